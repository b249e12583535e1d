// Data: packed columns to typed arrays, and questions whose cost does not grow with the number of
// events. `from`/`t` ascend in every track.
const FAN = 16, STEP = 64, SUM = 8;

/** The bytes of a block. */
async function unpack(element) {
  const text = element.textContent, size = Number(element.dataset.bytes);
  let bytes;
  if (Uint8Array.fromBase64) {
    bytes = Uint8Array.fromBase64(text);
  } else {
    const raw = atob(text);
    bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  }
  element.remove();
  if (element.dataset.deflated === undefined) return bytes;
  const out = new Uint8Array(size);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate')).getReader();
  let at = 0;
  for (;;) {
    const { done, value } = await stream.read();
    if (done) break;
    out.set(value, at);
    at += value.length;
  }
  if (at !== size) throw new Error(`a block of data: expected ${size} bytes, found ${at}`);
  return out;
}

/** Reads `n` varints into `out`; the offset behind them. */
function varints(bytes, at, n, out) {
  for (let i = 0; i < n; i++) {
    let x = bytes[at++];
    if (x > 127) {
      let scale = 128, y;
      x &= 127;
      do { y = bytes[at++]; x += (y & 127) * scale; scale *= 128; } while (y > 127);
    }
    out[i] = x;
  }
  return at;
}

/** Every 64th time, so that a search stays in the cache. */
function coarse(times) {
  const out = new Float64Array(Math.ceil(times.length / STEP));
  for (let i = 0; i < out.length; i++) out[i] = times[i * STEP];
  return out;
}

/** A track of spans: `sums[i]` is the time covered by the first 8 i spans. */
function spansTrack(from, to, what, extra) {
  const sums = new Float64Array((from.length >> 3) + 1);
  let sum = 0;
  for (let i = 0; i < from.length; i++) {
    if ((i & (SUM - 1)) === 0) sums[i >> 3] = sum;
    sum += to[i] - from[i];
  }
  if ((from.length & (SUM - 1)) === 0) sums[from.length >> 3] = sum;
  return { n: from.length, t: from, to, what, extra, sums, coarse: coarse(from) };
}

/** A track of values with the lowest and highest of every 16, 256, 4096, ... */
function valuesTrack(t, value, until, held) {
  const low = [value], high = [value];
  while (low[low.length - 1].length > FAN) {
    const l = low[low.length - 1], h = high[high.length - 1], n = Math.ceil(l.length / FAN);
    const a = new Uint32Array(n), b = new Uint32Array(n);
    for (let i = 0; i < n; i++) {
      let x = l[i * FAN], y = h[i * FAN];
      const end = Math.min(l.length, i * FAN + FAN);
      for (let j = i * FAN + 1; j < end; j++) { if (l[j] < x) x = l[j]; if (h[j] > y) y = h[j]; }
      a[i] = x; b[i] = y;
    }
    low.push(a); high.push(b);
  }
  const top = high[high.length - 1];
  let most = 0;
  for (let i = 0; i < top.length; i++) most = Math.max(most, top[i]);
  return { n: t.length, t, value, low, high, most, until, held, coarse: coarse(t) };
}

/** A lane's columns; times count from its group's zero. */
function decode(lane, bytes, group) {
  const n = lane.rows, t = new Float64Array(n);
  let at = varints(bytes, lane.at, n, t);
  if (lane.shape === 'spans') {
    const to = new Float64Array(n), what = new Uint32Array(n);
    at = varints(bytes, at, n, to);
    at = varints(bytes, at, n, what);
    let end = -group.zero;
    for (let i = 0; i < n; i++) { t[i] += end; end = to[i] += t[i]; }
    let extra = null;
    if (lane.extra) {
      extra = new Float64Array(n);
      varints(bytes, at, n, extra);
      for (let i = 0; i < n; i++) extra[i] = extra[i] % 2 ? -(extra[i] + 1) / 2 : extra[i] / 2;
    }
    return spansTrack(t, to, what, extra);
  }
  const value = new Uint32Array(n);
  varints(bytes, at, n, value);
  let time = -group.zero, v = 0;
  for (let i = 0; i < n; i++) {
    time += t[i]; t[i] = time;
    v += (value[i] >>> 1) ^ -(value[i] & 1); value[i] = v;
  }
  return valuesTrack(t, value, group.length - group.zero, lane.shape === 'steps');
}

/** How many rows begin before `time`, at least `hint`. */
function before(track, time, hint) {
  const { t, n, coarse: c } = track;
  if (hint >= n || t[hint] >= time) return hint;
  // Galloping: the next pixel's answer is seldom far.
  let low = Math.floor(hint / STEP), width = 1;
  while (low + width < c.length && c[low + width] < time) { low += width; width *= 2; }
  let high = Math.min(low + width, c.length);
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (c[middle] < time) low = middle; else high = middle;
  }
  let a = Math.max(low * STEP, hint), b = Math.min(n, high * STEP);
  while (a < b) {
    const middle = (a + b) >> 1;
    if (t[middle] < time) a = middle + 1; else b = middle;
  }
  return a;
}

/** Time covered before `time`, of which `k` spans begin before it. */
function covered(track, k, time) {
  const { t, to, sums } = track;
  let sum = sums[k >> 3];
  for (let i = k & ~(SUM - 1); i < k; i++) sum += to[i] - t[i];
  if (k > 0 && to[k - 1] > time) sum -= to[k - 1] - time;
  return sum;
}

/** Time between `left` and `right` that spans `i` to `j` cover. */
function overlap(track, i, j, left, right) {
  const { t, to } = track;
  let sum = 0;
  for (; i < j; i++) sum += Math.max(0, Math.min(to[i], right) - Math.max(t[i], left));
  return sum;
}

/** Per pixel the share of its time that is covered, and how many spans have to do with it. */
function shares(track, start, step, width, share, count) {
  let k = before(track, start, 0);
  for (let x = 0; x < width; x++) {
    const left = start + step * x, right = start + step * (x + 1);
    const next = before(track, right, k), first = k > 0 && track.to[k - 1] > left ? k - 1 : k;
    count[x] = next - first;
    // Few are summed up one by one: differences of long sums have too few digits for short times.
    const sum = next - first <= 2 * SUM ? overlap(track, first, next, left, right) : covered(track, next, right) - covered(track, k, left);
    share[x] = Math.min(1, Math.max(0, sum / step));
    k = next;
  }
}

/** Lowest and highest of the values `i` to `j`, `j` excluded, into `found`. */
function reach(track, i, j, found) {
  let x = found[0], y = found[1];
  for (let level = 0; i < j; level++) {
    const l = track.low[level], h = track.high[level];
    const last = level + 1 === track.low.length || j - i <= 2 * FAN;
    for (; i < j && (last || i & (FAN - 1)); i++) { if (l[i] < x) x = l[i]; if (h[i] > y) y = h[i]; }
    for (; i < j && j & (FAN - 1); ) { j--; if (l[j] < x) x = l[j]; if (h[j] > y) y = h[j]; }
    i /= FAN; j /= FAN;
  }
  found[0] = x; found[1] = y;
}

/** Per pixel the lowest and highest value in force in it, and how many rows lie in it; without a
 * value the lowest is above the highest. */
function extremes(track, start, step, width, low, high, count) {
  const found = [0, 0];
  let k = before(track, start, 0);
  for (let x = 0; x < width; x++) {
    const left = start + step * x, right = start + step * (x + 1);
    const next = before(track, right, k);
    found[0] = Infinity; found[1] = -Infinity;
    // A value that is replaced right at the pixel's begin does not belong to it.
    const holds = track.held && k > 0 && left < track.until && !(k < track.n && track.t[k] === left);
    if (holds) found[0] = found[1] = track.value[k - 1];
    if (next > k) reach(track, k, next, found);
    low[x] = found[0]; high[x] = found[1]; count[x] = next - k;
    k = next;
  }
}
