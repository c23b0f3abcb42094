// Reads the page again every 2 seconds and puts the fresh books in place of the old. A hidden page waits until it is
// looked at; one whose server does not answer asks less and less often.
"use strict";

const PAUSE = 2000;
const LONGEST_PAUSE = 30000;
let pause = PAUSE;
let timer = 0;

async function again() {
  const unreachable = document.getElementById("unreachable");
  try {
    const answer = await fetch("/", { cache: "no-store", signal: AbortSignal.timeout(5000) });
    if (!answer.ok) throw new Error(String(answer.status));
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    put(page.querySelector("main"));
    unreachable.hidden = true;
    pause = PAUSE;
  } catch {
    unreachable.hidden = false;
    pause = Math.min(pause * 2, LONGEST_PAUSE);
  }
  wait();
}

// Replaces the books, keeping the focus and how far each table is scrolled.
function put(main) {
  const focused = document.activeElement?.id;
  for (const section of main.querySelectorAll("section")) {
    const table = document.querySelector(`#${section.id} .table`);
    section.dataset.scrolled = String(table?.scrollTop ?? 0);
  }
  document.querySelector("main").replaceWith(document.adoptNode(main));
  for (const section of main.querySelectorAll("section")) {
    const table = section.querySelector(".table");
    if (table) table.scrollTop = Number(section.dataset.scrolled);
  }
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
}

function wait() {
  clearTimeout(timer);
  if (!document.hidden) timer = setTimeout(again, pause);
}

document.addEventListener("visibilitychange", wait);
wait();
