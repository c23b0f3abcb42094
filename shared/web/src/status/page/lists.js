// When the open view's lists are read again: when that part of the overview moved that they hang on, every time while
// the view asks for it, and now and then.

const HOLD = 30_000;

export function lists() {
  let readAt = -Infinity;
  let readOf = null;
  const hangOn = (view, overview) => JSON.stringify(view.hangsOn ? view.hangsOn(overview) : { ...overview, at: null });
  return {
    isDue: (view, overview, now) =>
      Boolean(view.read) && (view.eager?.() || now - readAt > HOLD || hangOn(view, overview) !== readOf),
    // They were read at `now`, when the overview stood so.
    read(view, overview, now) {
      [readAt, readOf] = [now, hangOn(view, overview)];
    },
    // What is shown is no longer what stands.
    forget() {
      readAt = -Infinity;
    },
  };
}
