// What drawings share: elements of SVG, and drawing again when the place for it gets wider or narrower.

const SVG = "http://www.w3.org/2000/svg";

export function svg(tag, attributes, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) made.setAttribute(name, typeof value === "number" ? Math.round(value * 10) / 10 : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

// A place that `draw(width, value)` fills; give it values with `show`.
export function drawn(place, draw) {
  let value;
  let before = "";
  const again = () => {
    const width = place.clientWidth;
    if (value === undefined || width === 0) return;
    const text = `${width} ${JSON.stringify(value)}`;
    if (text === before) return;
    before = text;
    place.replaceChildren(draw(width, value));
  };
  new ResizeObserver(again).observe(place);
  return {
    show(now) {
      value = now;
      again();
    },
  };
}
