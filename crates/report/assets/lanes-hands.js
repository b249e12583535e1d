// Hands: wheel, pointer, keys, search, what stands under the pointer; and the beginning.
const main = document.getElementById('view'), tip = document.getElementById('tip');
const search = document.getElementById('search'), found = document.getElementById('found');
const root = document.documentElement, brush = cursor.getContext('2d');
const LEAST = 0.02; // ns per pixel

let asked = false;
function redraw() {
  if (asked) return;
  asked = true;
  requestAnimationFrame(() => { asked = false; draw(); say(); });
}

/** The stretch of all groups, with a margin. */
function bounds() {
  const from = Math.min(...app.groups.map(group => -group.zero)), to = Math.max(...app.groups.map(group => group.length - group.zero));
  const margin = Math.max(1, (to - from) * 0.01);
  return [from - margin, to + margin];
}

function clamp() {
  const [from, to] = bounds();
  view.step = Math.min(Math.max(view.step, LEAST), (to - from) / view.width);
  view.start = Math.min(Math.max(view.start, from), to - view.step * view.width);
  view.scroll = Math.min(Math.max(view.scroll, 0), Math.max(0, app.rowsHeight - view.height / view.ratio));
}

function show(from, to) {
  view.start = from;
  view.step = Math.max(LEAST, (to - from) / view.width);
  clamp(); redraw();
}

function zoom(factor, x) {
  const at = view.start + view.step * x;
  view.step *= factor;
  clamp();
  view.start = at - view.step * x;
  clamp(); redraw();
}

function pan(share) { view.start += share * view.step * view.width; clamp(); redraw(); }

/** A time to the nanosecond, in the unit that fits it. */
function exact(ns) {
  const size = Math.abs(ns), [scale, unit] = UNITS.find(([scale]) => size >= scale) || UNITS[3];
  const digits = scale === 1 ? (size % 1 ? 2 : 0) : Math.round(Math.log10(scale));
  const text = (ns / scale).toFixed(digits);
  return `${text.includes('.') ? text.replace(/\.?0+$/, '') : text} ${unit}`;
}

const many = (n, what) => `${n.toLocaleString('en')} ${what}${n === 1 ? '' : 's'}`;

/** What the status line says: the scale, and what shares a pixel. */
function say() {
  const most = Math.max(0, ...app.rows.map(row => row.most || 0));
  const shared = most > 1 ? `up to ${many(most, 'row')} share a pixel: shown as shares and extremes, none left out` : 'every row has its own pixels';
  document.getElementById('status').textContent =
    `${many(app.total, 'row')} · ${exact(view.step * view.width)} in sight · 1 pixel = ${exact(view.step)} · ${shared}`;
}

/** The names of spans, those with most time first; where there are too many to look at, their number. */
function tally(track, first, last, from, to, name) {
  if (last - first > 20000) return '';
  const sums = new Map();
  for (let i = first; i < last; i++) {
    const time = Math.min(track.to[i], to) - Math.max(track.t[i], from), what = name(track.what[i], i);
    sums.set(what, (sums.get(what) || 0) + Math.max(0, time));
  }
  const list = [...sums].sort((a, b) => b[1] - a[1]);
  const more = list.length > 4 ? `\n... and ${list.length - 4} more` : '';
  return list.slice(0, 4).map(([what, time]) => `\n${what}: ${exact(time)}`).join('') + more;
}

/** What is at a row and a pixel, in words. */
function describe(row, x) {
  const left = view.start + view.step * x, right = left + view.step, group = app.groups[row.group];
  const share = [0], count = [0], high = [0];
  if (row.layers) {
    const track = row.whole;
    shares(track, left, view.step, 1, share, count);
    if (!count[0]) return `${row.label}: nothing`;
    const last = before(track, right, 0), first = last - count[0];
    const task = what => `${group.tasks[what].name}-${group.tasks[what].tid}`;
    const name = what => row.kind === 'cpu' ? task(what) : row.kind === 'task' ? `cpu${what}` : group.texts[what];
    if (count[0] > 1) {
      return `${row.label}: ${many(count[0], 'stretch').replace('stretchs', 'stretches')} in this pixel, ${(share[0] * 100).toFixed(1)} % of its ${exact(view.step)}${tally(track, first, last, left, right, name)}`;
    }
    const late = track.extra ? `\nlateness ${exact(track.extra[first])}` : '';
    return `${row.label}: ${name(track.what[first])}\n${exact(track.t[first])} to ${exact(track.to[first])}: ${exact(track.to[first] - track.t[first])}${late}`;
  }
  const track = row.values || row.marks;
  if (!track) return row.label;
  const unit = v => row.kind === 'frequency' ? `${(v / 1e3).toLocaleString('en', { maximumFractionDigits: 3 })} MHz` : row.marks ? group.texts[v] : String(v);
  extremes(track, left, view.step, 1, share, high, count);
  if (share[0] > high[0]) return `${row.label}: ${row.marks ? 'none' : 'not known'}`;
  const last = before(track, right, 0);
  if (count[0] > 1) return row.marks ? `${many(count[0], 'mark')} in this pixel` : `${row.label}: ${unit(share[0])} to ${unit(high[0])}\n${many(count[0], track.held ? 'change' : 'sample')} in this pixel`;
  const at = last - 1, held = track.held && at + 1 < track.n ? ` to ${exact(track.t[at + 1])}` : '';
  const range = count[0] && share[0] !== high[0] ? `${unit(share[0])} to ${unit(high[0])}, then ` : '';
  return `${row.label}: ${range}${unit(track.value[at])}\n${track.held ? 'from ' : 'at '}${exact(track.t[at])}${held}`;
}

function rowAt(y) {
  const at = y - AXIS + view.scroll;
  return y < AXIS ? undefined : app.rows.find(row => at >= row.y && at < row.y + row.height);
}

function hover(event) {
  const box = main.getBoundingClientRect(), px = event.clientX - box.left - main.clientLeft, py = event.clientY - box.top - main.clientTop;
  brush.clearRect(0, 0, cursor.width, cursor.height);
  const x = Math.floor(px * view.ratio) - (plot.width - view.width);
  if (x < 0 || x >= view.width || drag) { tip.hidden = true; return; }
  brush.fillStyle = css('muted');
  brush.fillRect(x + plot.width - view.width, 0, 1, cursor.height);
  const row = rowAt(py), time = exact(view.start + view.step * x);
  let lost = '';
  for (const lane of row ? app.lost : []) {
    if (lane.group !== row.group || (lane.cpu !== undefined && lane.cpu !== row.cpu)) continue;
    const share = [0], count = [0];
    shares(lane.track, view.start + view.step * x, view.step, 1, share, count);
    if (count[0]) lost = '\nevents were lost here: what happened is not known';
  }
  tip.textContent = `${time}\n${row ? describe(row, x) + lost : ''}`.trim();
  tip.hidden = false;
  const flip = px > box.width / 2;
  tip.style.left = flip ? 'auto' : `${px + 14}px`;
  tip.style.right = flip ? `${box.width - px + 14}px` : 'auto';
  tip.style.top = `${Math.min(py + 12, Math.max(0, box.height - tip.offsetHeight - 8))}px`;
}

let drag = null;
main.addEventListener('pointerdown', event => {
  if (event.button !== 0) return;
  drag = { x: event.clientX, y: event.clientY };
  try { main.setPointerCapture(event.pointerId); } catch { /* a pointer that is gone already */ }
  main.classList.add('dragged');
});
main.addEventListener('pointermove', event => {
  if (drag) {
    view.start -= (event.clientX - drag.x) * view.ratio * view.step;
    view.scroll -= event.clientY - drag.y;
    drag = { x: event.clientX, y: event.clientY };
    clamp(); redraw();
  }
  hover(event);
});
const drop = () => { drag = null; main.classList.remove('dragged'); };
main.addEventListener('pointerup', drop);
main.addEventListener('pointercancel', drop);
main.addEventListener('pointerleave', () => { tip.hidden = true; brush.clearRect(0, 0, cursor.width, cursor.height); });
main.addEventListener('wheel', event => {
  event.preventDefault();
  const lines = event.deltaMode === 1 ? 16 : 1, x = (event.clientX - main.getBoundingClientRect().left) * view.ratio - (plot.width - view.width);
  const across = event.deltaX || (event.shiftKey ? event.deltaY : 0);
  if (x < 0) { view.scroll += event.deltaY * lines; clamp(); redraw(); }
  else if (across) pan(across * lines / 1000);
  else zoom(Math.exp(event.deltaY * lines * 0.0016), x);
}, { passive: false });

/** The next or previous slice of the picked task, in the middle. */
function step(forward) {
  const whole = app.picked && app.picked.tracks.whole;
  if (!whole) return;
  const middle = view.start + view.step * view.width / 2;
  let i = before(whole, middle, 0);
  // What stands in the middle now is none of both.
  const center = k => (whole.t[k] + whole.to[k]) / 2;
  if (forward) while (i < whole.n && center(i) <= middle + view.step) i++;
  else do i--; while (i >= 0 && center(i) >= middle - view.step);
  if (i < 0 || i >= whole.n) return;
  const width = Math.min(view.step * view.width, Math.max(20 * (whole.to[i] - whole.t[i]), 1000));
  show(center(i) - width / 2, center(i) + width / 2);
}

main.addEventListener('keydown', event => {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const far = event.shiftKey ? 0.9 : 0.15, keys = {
    ArrowLeft: () => pan(-far), ArrowRight: () => pan(far), ArrowUp: () => { view.scroll -= 40; clamp(); redraw(); },
    ArrowDown: () => { view.scroll += 40; clamp(); redraw(); }, PageUp: () => { view.scroll -= 300; clamp(); redraw(); },
    PageDown: () => { view.scroll += 300; clamp(); redraw(); }, '+': () => zoom(0.6, view.width / 2), '=': () => zoom(0.6, view.width / 2),
    '-': () => zoom(1 / 0.6, view.width / 2), 0: () => show(...bounds()), Home: () => show(...bounds()), '/': () => search.focus(),
    n: () => step(true), p: () => step(false), Escape: () => pick(null),
  };
  if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
});

/** Looks at one task: its row on top, its slices marked on every CPU. */
function pick(choice) {
  app.picked = choice && { ...choice, tracks: gather(choice.group, [choice.task])[0] };
  if (choice) view.scroll = 0;
  buildRows(); legend(); clamp(); redraw();
}

let choices = [], chosen = 0;
function look() {
  const text = search.value.trim().toLowerCase(), all = [];
  if (text) {
    app.groups.forEach((group, g) => group.tasks.forEach((task, i) => {
      if (`${task.name}-${task.tid}`.toLowerCase().includes(text)) all.push({ group: g, task: i, ...task });
    }));
  }
  all.sort((a, b) => b.ran - a.ran);
  choices = all.slice(0, 12);
  chosen = 0;
  found.replaceChildren(...choices.map((choice, i) => {
    const item = document.createElement('li'), more = document.createElement('small');
    item.textContent = `${choice.name}-${choice.tid}`;
    more.textContent = `${app.groups.length > 1 ? `${app.groups[choice.group].name}, ` : ''}${many(choice.slices, 'slice')}, ${exact(choice.ran)}`;
    item.append(more);
    item.setAttribute('aria-selected', i === chosen);
    item.addEventListener('pointerdown', event => { event.preventDefault(); take(i); });
    return item;
  }));
  if (text) {
    const rest = document.createElement('small');
    rest.textContent = all.length > 12 ? `... and ${all.length - 12} more` : all.length ? '' : 'no such task';
    if (rest.textContent) found.append(rest);
  }
  found.hidden = !text;
}
function take(i) {
  if (!choices[i]) return;
  search.value = `${choices[i].name}-${choices[i].tid}`;
  found.hidden = true;
  pick(choices[i]);
  main.focus();
}
search.addEventListener('input', look);
search.addEventListener('blur', () => { found.hidden = true; });
search.addEventListener('keydown', event => {
  if (event.key === 'Enter') take(chosen);
  else if (event.key === 'Escape') { search.value = ''; look(); pick(null); main.focus(); }
  else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    event.preventDefault();
    chosen = Math.min(Math.max(0, chosen + (event.key === 'ArrowDown' ? 1 : -1)), choices.length - 1);
    [...found.querySelectorAll('li')].forEach((item, i) => item.setAttribute('aria-selected', i === chosen));
  }
});
document.getElementById('in').addEventListener('click', () => zoom(0.6, view.width / 2));
document.getElementById('out').addEventListener('click', () => zoom(1 / 0.6, view.width / 2));
document.getElementById('all').addEventListener('click', () => show(...bounds()));

/** What the colours mean: kinds of core, windows, idle states, gaps. */
function legend() {
  const entries = app.rows.some(row => row.kind === 'cpu') ? app.cores.map((core, i) => [core, CORES[i % CORES.length]]) : [], seen = new Set();
  for (const row of app.rows) {
    if (row.kind !== 'windows' && row.kind !== 'idle') continue;
    for (const { track, color } of row.layers) {
      const text = app.groups[row.group].texts[track.what[0]];
      if (!seen.has(text) && seen.size < 16) { seen.add(text); entries.push([row.kind === 'idle' ? `idle: ${text}` : text, color]); }
    }
  }
  if (app.picked) entries.push(['the task you picked', 'effect']);
  if (app.lost.length) entries.push(['events lost', 'alarm']);
  document.getElementById('legend').replaceChildren(...entries.map(([text, color]) => {
    const item = document.createElement('li'), svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    const square = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
    for (const [name, value] of [['width', '100%'], ['height', '100%'], ['rx', 2], ['fill', css(color)]]) square.setAttribute(name, value);
    svg.append(square);
    item.append(svg, text);
    return item;
  }));
}

const dark = () => root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
const toggle = document.getElementById('theme');
function theme() { toggle.textContent = dark() ? 'Light' : 'Dark'; readColors(); if (app.rows.length) { legend(); redraw(); } }
toggle.addEventListener('click', () => { root.dataset.theme = dark() ? 'light' : 'dark'; theme(); });
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', theme);

async function begin() {
  const begun = performance.now(), status = document.getElementById('status');
  const description = JSON.parse(document.getElementById('description').textContent);
  const query = new URLSearchParams(location.search);
  if (['dark', 'light'].includes(query.get('theme'))) root.dataset.theme = query.get('theme');
  Object.assign(app, { groups: description.groups, lanes: description.lanes, cores: description.cores, total: description.rows });
  const blocks = [...document.querySelectorAll('script.block')];
  let done = 0;
  await Promise.all(blocks.map(async (element, i) => {
    const bytes = await unpack(element);
    for (const lane of app.lanes) if (lane.block === i) lane.track = decode(lane, bytes, app.groups[lane.group]);
    status.textContent = `Reading ... ${++done} of ${blocks.length}`;
  }));
  document.getElementById('notes').replaceChildren(...description.notes.map(note => {
    const item = document.createElement('li');
    item.textContent = note;
    return item;
  }));
  theme();
  buildRows();
  resize();
  // A canvas of a new size is empty: it is filled before anybody sees it.
  new ResizeObserver(() => { if (resize()) { clamp(); draw(); say(); } }).observe(main);
  legend();
  const wanted = (query.get('view') || '').split(',').map(Number);
  view.step = Infinity;
  if (wanted.length === 2 && wanted.every(Number.isFinite) && wanted[0] < wanted[1]) { view.start = wanted[0]; view.step = (wanted[1] - wanted[0]) / view.width; }
  clamp();
  if (query.get('task')) { search.value = query.get('task'); look(); take(0); }
  draw(); say();
  app.loadMs = performance.now() - begun;
  root.dataset.ready = 'yes';
  main.focus({ preventScroll: true });
}
// For the console, and for tests: the view, the lanes, and the questions that drawing asks.
window.flyball = { app, view, shares, extremes, before, show, draw, describe, pick };
begin().catch(error => {
  document.getElementById('status').textContent = `This page cannot be drawn: ${error.message}`;
  root.dataset.ready = 'failed';
});
