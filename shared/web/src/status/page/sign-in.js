// Signing in leads back to the view that the address names. Read before the form is there, so that nobody is faster.

document.addEventListener("submit", ({ target }) => {
  target.action = `/sign-in${location.hash}`;
});
