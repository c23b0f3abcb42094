// Signing in leads back to the view that the address names.

const form = document.querySelector("form");

function keep() {
  form.action = `/sign-in${location.hash}`;
}

keep();
window.addEventListener("hashchange", keep);
