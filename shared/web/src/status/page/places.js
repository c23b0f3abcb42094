// The addresses of views: `#/events?source=shop`. Whatever stands there, there is a view for it.

// Where an address leads: the view's name, what follows it, and the parameters.
export function placeOf(hash) {
  const [path, search = ""] = hash.replace(/^#/, "").split(/\?(.*)/s, 2);
  const [view = "", ...rest] = path.split("/").filter((part) => part !== "");
  return { view, rest: rest.map(decoded), parameters: Object.fromEntries(new URLSearchParams(search)) };
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

// The address of a view.
export function to(view, parameters = {}, ...rest) {
  const path = [view, ...rest.map(encodeURIComponent)].join("/");
  const said = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const search = new URLSearchParams(said).toString();
  return search === "" ? `#/${path}` : `#/${path}?${search}`;
}

export const toEvent = (event) => to("events", {}, event);
