// Drawing: one pass over the pixels of the rows in sight.
const GUTTER = 148, AXIS = 26;
const view = { start: 0, step: 1, scroll: 0, width: 0, height: 0, ratio: 1 };
const plot = document.getElementById('plot'), cursor = document.getElementById('cursor');
// Whole pictures are put into it, none is drawn by a graphics processor.
const pen = plot.getContext('2d', { alpha: false, willReadFrequently: true });
let image = null, pixels = null, colors = {}, pool = [];

/** The theme's colours as 0xAABBGGRR, which is how a picture's bytes lie. */
function readColors() {
  const style = getComputedStyle(document.documentElement);
  colors = {};
  for (const name of ['ink', 'muted', 'grid', 'surface', 'alarm', 'effect', 's0', 's1', 's2', 's3', 's4', 's5', 's6', 's7']) {
    const rgb = parseInt(style.getPropertyValue(`--${name}`).trim().slice(1), 16);
    colors[name] = (0xff000000 | (rgb & 0xff) << 16 | (rgb & 0xff00) | rgb >> 16) >>> 0;
  }
}

/** `share` of one colour on the surface. */
function mix(color, share) {
  const on = colors.surface;
  let out = 0xff000000;
  for (let shift = 0; shift < 24; shift += 8) {
    const a = color >> shift & 255, b = on >> shift & 255;
    out |= Math.round(b + (a - b) * share) << shift;
  }
  return out >>> 0;
}

const paint = color => Array.isArray(color) ? mix(colors[color[0]], color[1]) : colors[color];
const css = color => { const c = paint(color); return `rgb(${c & 255},${c >> 8 & 255},${c >> 16 & 255})`; };

/** Takes the size of the page's room; whether it is another one. */
function resize() {
  const box = plot.parentElement, ratio = window.devicePixelRatio || 1;
  const size = [box.clientWidth, box.clientHeight].map(length => Math.max(2, Math.round(length * ratio)));
  if (view.width && plot.width === size[0] && plot.height === size[1] && view.ratio === ratio) return false;
  const end = view.start + view.step * view.width;
  view.ratio = ratio;
  for (const canvas of [plot, cursor]) {
    [canvas.width, canvas.height] = size;
  }
  const before = view.width;
  view.width = Math.max(1, plot.width - Math.round(GUTTER * ratio));
  view.height = Math.max(1, plot.height - Math.round(AXIS * ratio));
  image = new ImageData(view.width, view.height);
  pixels = new Uint32Array(image.data.buffer);
  pool = [];
  if (before) view.step = (end - view.start) / view.width;
  return true;
}

/** Buffers of one value per pixel column, kept from frame to frame. */
function buffers(i) {
  while (pool.length <= i) pool.push([new Float64Array(view.width), new Float64Array(view.width), new Float64Array(view.width)]);
  return pool[i];
}

function column(x, top, bottom, color) {
  const stop = Math.min(bottom, view.height);
  for (let y = Math.max(0, top), at = y * view.width + x; y < stop; y++, at += view.width) pixels[at] = color;
}

/** Spans as bars: as high as their share of the pixel's time, one pixel at least. */
function drawSpans(row, top, height, paints) {
  const { layers } = row, n = layers.length, heights = new Array(n);
  let most = 0;
  layers.forEach((layer, i) => { const b = buffers(i); shares(layer.track, view.start, view.step, view.width, b[0], b[1]); });
  for (let x = 0; x < view.width; x++) {
    let sum = 0, count = 0;
    for (let i = 0; i < n; i++) {
      const [share, counts] = pool[i];
      heights[i] = counts[x] ? Math.max(1, Math.round(share[x] * height)) : 0;
      sum += heights[i]; count += counts[x];
    }
    if (!count) continue;
    most = Math.max(most, count);
    for (; sum > height; sum--) {
      let largest = 0;
      for (let i = 1; i < n; i++) if (heights[i] > heights[largest]) largest = i;
      if (heights[largest] < 2) break;
      heights[largest]--;
    }
    let bottom = top + height;
    for (let i = 0; i < n; i++) if (heights[i]) { column(x, bottom - heights[i], bottom, paints[i]); bottom -= heights[i]; }
  }
  row.most = most;
}

/** Where few spans are in sight: their begins, and their names where there is room. */
function spansInSight(row, each) {
  const { whole } = row, end = view.start + view.step * view.width;
  let first = before(whole, view.start, 0);
  const last = before(whole, end, first);
  if (first > 0 && whole.to[first - 1] > view.start) first--;
  if (last - first > view.width / 4) return;
  for (let i = first; i < last; i++) each(i, (whole.t[i] - view.start) / view.step, (whole.to[i] - view.start) / view.step);
}

function drawValues(row, top, height) {
  const track = row.values, [low, high, count] = buffers(0);
  extremes(track, view.start, view.step, view.width, low, high, count);
  const line = colors[row.color], fill = mix(line, 0.18), bottom = top + height, scale = (height - 2) / Math.max(1, row.top);
  const thick = Math.max(1, Math.round(view.ratio));
  let most = 0;
  for (let x = 0; x < view.width; x++) {
    if (low[x] > high[x]) continue;
    most = Math.max(most, count[x]);
    const y = bottom - Math.round(Math.min(high[x], row.top) * scale) - thick;
    const under = bottom - Math.round(Math.min(low[x], row.top) * scale);
    if (track.held) column(x, under, bottom, fill);
    column(x, y, Math.max(under, y + thick), line);
  }
  row.most = most;
}

function drawMarks(row, top, height) {
  const [low, high, count] = buffers(0);
  extremes(row.marks, view.start, view.step, view.width, low, high, count);
  row.most = 0;
  for (let x = 0; x < view.width; x++) if (count[x]) { column(x, top, top + height, colors.ink); row.most = Math.max(row.most, count[x]); }
}

/** Where events were lost nothing is known: hatched over whatever is there. */
function drawLost(row, top, height) {
  for (const lane of app.lost) {
    if (lane.group !== row.group || (lane.cpu !== undefined && lane.cpu !== row.cpu)) continue;
    const [share, count] = buffers(0);
    shares(lane.track, view.start, view.step, view.width, share, count);
    for (let x = 0; x < view.width; x++) {
      if (!count[x]) continue;
      for (let y = Math.max(0, top); y < Math.min(view.height, top + height); y++) if ((x + y & 7) < 2) pixels[y * view.width + x] = colors.alarm;
    }
  }
}

function drawRow(row, top, height) {
  if (row.layers) {
    const picked = app.picked && row.kind === 'cpu' && app.picked.group === row.group;
    drawSpans(row, top, height, row.layers.map(layer => picked ? mix(colors[layer.color], 0.35) : paint(layer.color)));
    const own = picked && app.picked.tracks.byLane.get(row.lane);
    if (own) {
      const most = row.most;
      drawSpans({ layers: [{ track: own }] }, top, height, [colors.effect]);
      row.most = most;
    }
    if (row.kind !== 'idle') {
      const edge = mix(colors.ink, 0.75);
      spansInSight(row, (i, from, to) => { if (from >= 0 && to - from > 3) column(Math.min(view.width - 1, Math.floor(from)), top, top + height, edge); });
    }
  } else if (row.values) drawValues(row, top, height);
  else if (row.marks) drawMarks(row, top, height);
  if (row.kind !== 'title') drawLost(row, top, height);
}

/** What spans and marks are called, where there is room. */
function drawNames(row, top, height) {
  const group = app.groups[row.group], ratio = view.ratio, left = plot.width - view.width;
  if (row.layers && row.kind !== 'idle') {
    const name = what => row.kind === 'cpu' ? group.tasks[what].name : row.kind === 'task' ? `cpu${what}` : group.texts[what];
    pen.fillStyle = css('surface');
    spansInSight(row, (i, from, to) => {
      const a = Math.max(0, from), b = Math.min(view.width, to);
      if (b - a < 34 * ratio) return;
      pen.save();
      pen.beginPath(); pen.rect(left + a, top, b - a - 2, height); pen.clip();
      pen.fillText(name(row.whole.what[i]), left + a + 4 * ratio, top + height / 2);
      pen.restore();
    });
  } else if (row.marks) {
    const first = before(row.marks, view.start, 0), last = before(row.marks, view.start + view.step * view.width, first);
    if (last - first > 40) return;
    pen.fillStyle = css('ink');
    for (let i = first, free = 0; i < last; i++) {
      const x = (row.marks.t[i] - view.start) / view.step, text = group.texts[row.marks.value[i]];
      if (x < free) continue;
      pen.fillText(text, left + x + 4 * ratio, top + height / 2);
      free = x + pen.measureText(text).width + 12 * ratio;
    }
  }
}

const UNITS = [[1e9, 's'], [1e6, 'ms'], [1e3, 'us'], [1, 'ns']];

/** Calls `each` with pixel and time of the axis's ticks: steps of 1, 2 or 5, as one unit has them. */
function ticks(each) {
  const end = view.start + view.step * view.width, least = view.step * 110 * view.ratio;
  const power = 10 ** Math.floor(Math.log10(least)), step = [1, 2, 5, 10].map(n => n * power).find(n => n >= least);
  for (let i = Math.ceil(view.start / step); i * step <= end; i++) each(Math.round((i * step - view.start) / view.step), i * step, step);
}

function axis() {
  const { ratio } = view, left = plot.width - view.width;
  const far = Math.max(Math.abs(view.start), Math.abs(view.start + view.step * view.width));
  const [scale, unit] = UNITS.find(([scale]) => far >= scale) || UNITS[3];
  pen.fillStyle = css('muted');
  ticks((x, time, step) => {
    const digits = Math.max(0, -Math.floor(Math.log10(step / scale) + 1e-9));
    pen.fillRect(Math.round(left + x), AXIS * ratio - 5 * ratio, 1, 5 * ratio);
    pen.fillText(`${(time / scale).toFixed(digits)} ${unit}`, left + x + 3 * ratio, AXIS * ratio / 2);
  });
}

function gridLines() {
  const grid = mix(colors.grid, 0.6);
  ticks(x => { if (x >= 0 && x < view.width) column(x, 0, view.height, grid); });
}

/** One frame. */
function draw() {
  const begun = performance.now(), { ratio } = view, top0 = Math.round(AXIS * ratio);
  pixels.fill(colors.surface);
  gridLines();
  const sight = app.rows.filter(row => row.y + row.height > view.scroll && row.y < view.scroll + view.height / ratio);
  const place = row => [Math.round((row.y - view.scroll) * ratio), Math.round(row.height * ratio)];
  for (const row of sight) drawRow(row, ...place(row));
  pen.fillStyle = css('surface');
  pen.fillRect(0, 0, plot.width, plot.height);
  pen.putImageData(image, plot.width - view.width, top0);
  pen.font = `${Math.round(11 * ratio)}px Inter, system-ui, sans-serif`;
  pen.textBaseline = 'middle';
  axis();
  pen.save();
  pen.beginPath(); pen.rect(0, top0, plot.width, view.height); pen.clip();
  for (const row of sight) {
    const [y, height] = place(row), top = y + top0, middle = top + height / 2, gutter = plot.width - view.width;
    drawNames(row, top, height);
    pen.save();
    pen.beginPath(); pen.rect(0, top, gutter - 4 * ratio, height); pen.clip();
    pen.fillStyle = css(row.kind === 'title' || row.picked ? 'ink' : 'muted');
    const tall = row.values && height > 30 * ratio, side = label(row);
    const room = pen.measureText(side).width;
    if (row.kind !== 'idle') pen.fillText(row.label, 8 * ratio, middle, Math.max(20, gutter - (tall ? 12 * ratio : room + 18 * ratio)));
    if (tall) {
      pen.textAlign = 'right';
      pen.fillText(ceiling(row), gutter - 8 * ratio, top + 7 * ratio);
      pen.fillText(side || '0', gutter - 8 * ratio, top + height - 7 * ratio);
      pen.textAlign = 'left';
    } else if (row.kind !== 'idle') pen.fillText(side, gutter - room - 8 * ratio, middle);
    pen.restore();
  }
  pen.restore();
  app.drawMs = performance.now() - begun;
  app.frames = (app.frames || 0) + 1;
}

/** How many rows share the fullest pixel, where that is more than one. */
const label = row => row.most > 1 ? `≤ ${row.most.toLocaleString('en')}/px` : '';
const ceiling = row => row.kind === 'frequency' ? `${(row.top / 1e6).toFixed(2)} GHz` : String(row.top);
