// What the test does in the page: questions against a full scan, hands, frames; posts what it found.
(async () => {
  const { app, view, shares, extremes, before, show, draw } = window.flyball;
  const frame = () => new Promise(resolve => requestAnimationFrame(resolve));
  const answer = { error: null, wrong: [], checked: 0, figures: {} };
  const root = document.documentElement, main = document.getElementById('view');
  const plot = document.getElementById('plot');
  const median = list => [...list].sort((a, b) => a - b)[list.length >> 1];

  /** Shares and counts by looking at every span. */
  function scanSpans(track, start, step, width) {
    const share = new Float64Array(width), count = new Float64Array(width);
    for (let i = 0; i < track.n; i++) {
      const from = track.t[i], to = track.to[i];
      if (to < start || from >= start + step * width) continue;
      const first = Math.max(0, Math.floor((from - start) / step) - 1), last = Math.min(width - 1, Math.floor((to - start) / step) + 1);
      for (let x = first; x <= last; x++) {
        const left = start + step * x, right = start + step * (x + 1);
        // In the pixel where it begins, and in each into which it reaches.
        if (from < right && (from >= left || to > left)) {
          count[x]++;
          share[x] += Math.max(0, Math.min(to, right) - Math.max(from, left)) / step;
        }
      }
    }
    return [share, count];
  }

  /** Lowest, highest and count by looking at every row. */
  function scanValues(track, start, step, width) {
    const low = new Float64Array(width).fill(Infinity), high = new Float64Array(width).fill(-Infinity), count = new Float64Array(width);
    const put = (x, v) => { low[x] = Math.min(low[x], v); high[x] = Math.max(high[x], v); };
    for (let i = 0; i < track.n; i++) {
      const from = track.t[i], to = track.held ? Math.min(track.until, i + 1 < track.n ? track.t[i + 1] : Infinity) : from;
      if (Math.max(from, to) < start || from >= start + step * width) continue;
      const first = Math.max(0, Math.floor((from - start) / step) - 1), last = Math.min(width - 1, Math.floor((to - start) / step) + 1);
      for (let x = first; x <= last; x++) {
        const left = start + step * x, right = start + step * (x + 1);
        const inside = from >= left && from < right;
        if (inside) count[x]++;
        if (inside || (from < right && to > left)) put(x, track.value[i]);
      }
    }
    return [low, high, count];
  }

  // The edges of a pixel far from zero are rounded to what a double can hold there.
  function compare(name, what, x, expected, found, view) {
    answer.checked++;
    const step = (view[1] - view[0]) / 200, slack = what === 'share' ? 1e-6 + Math.abs(view[1]) * 2 ** -50 / step : 0;
    const same = expected === found || Math.abs(expected - found) <= slack;
    if (!same && answer.wrong.length < 20) answer.wrong.push({ name, what, x, expected, found, view });
  }

  function check(name, track) {
    const width = 200, whole = [-1000, (track.to ? track.to[track.n - 1] : track.t[track.n - 1]) + 2000];
    const views = [whole];
    let seed = 12345;
    for (let i = 0; i < 4; i++) {
      seed = (seed * 1103515245 + 12345) % 2147483648;
      const at = track.t[Math.floor(seed / 2147483648 * track.n)], length = [50, 3000, 1e6, 4e8][i];
      views.push([at - length / 3, at + length]);
    }
    for (const [from, to] of views) {
      const step = (to - from) / width, a = new Float64Array(width), b = new Float64Array(width), c = new Float64Array(width);
      if (track.to) {
        shares(track, from, step, width, a, b);
        const [share, count] = scanSpans(track, from, step, width);
        for (let x = 0; x < width; x++) { compare(name, 'share', x, share[x], a[x], [from, to]); compare(name, 'count', x, count[x], b[x], [from, to]); }
      } else {
        extremes(track, from, step, width, a, b, c);
        const [low, high, count] = scanValues(track, from, step, width);
        for (let x = 0; x < width; x++) { compare(name, 'low', x, low[x], a[x], [from, to]); compare(name, 'high', x, high[x], b[x], [from, to]); compare(name, 'count', x, count[x], c[x], [from, to]); }
      }
    }
  }

  /** Whether a row has any ink that is not of the surface at a time. */
  function inked(row, time, top) {
    const x = Math.floor((time - view.start) / view.step) + plot.width - view.width;
    const y = Math.round(26 * view.ratio) + Math.round((row.y - view.scroll) * view.ratio);
    const height = Math.round(row.height * view.ratio);
    const data = plot.getContext('2d', { willReadFrequently: true }).getImageData(x, y, 1, height).data;
    const surface = getComputedStyle(root).getPropertyValue('--surface').trim();
    const rgb = [1, 3, 5].map(i => parseInt(surface.slice(i, i + 2), 16));
    for (let i = 0; i < (top || height); i++) if (rgb.some((c, k) => c !== data[i * 4 + k])) return true;
    return false;
  }

  /** Draws a series of frames; median and worst of drawing and of what passes between frames. */
  async function series(n, act) {
    const draws = [], between = [];
    let last = await frame();
    for (let i = 0; i < n; i++) {
      act(i);
      const now = await frame();
      draws.push(app.drawMs);
      between.push(now - last);
      last = now;
    }
    return { draw_ms: median(draws), draw_worst_ms: Math.max(...draws), frame_ms: median(between), frame_worst_ms: Math.max(...between) };
  }

  try {
    while (!root.dataset.ready) await new Promise(resolve => setTimeout(resolve, 2));
    answer.figures.load_ms = performance.now();
    answer.figures.script_ms = app.loadMs;
    if (root.dataset.ready !== 'yes') throw new Error(document.getElementById('status').textContent);
    answer.figures.rows = app.total;
    answer.figures.canvas = [plot.width, plot.height];

    for (const lane of app.lanes) check(lane.name, lane.track);
    for (const row of app.rows) for (const layer of row.layers || []) if (row.kind !== 'cpu') check(row.label, layer.track);

    const row = label => app.rows.find(row => row.label === label), lane = name => app.lanes.find(lane => lane.name === name);
    const peak = lane('policy0').track, at = peak.value.indexOf(9999000);
    draw();
    answer.spike = at > 0 && inked(row('policy0'), peak.t[at], 4);
    const needle = app.groups[0].tasks.findIndex(task => task.name === 'needle');
    const cpu3 = lane('cpu3').track, own = cpu3.what.indexOf(needle);
    // Alone in its pixel, and far below one pixel: 1 ns in 100 us.
    show(cpu3.t[own] - 30e6, cpu3.t[own] + 120e6);
    draw();
    answer.needle = own >= 0 && inked(app.rows.find(row => row.kind === 'cpu' && row.cpu === 3), cpu3.t[own]);

    const box = main.getBoundingClientRect(), middle = { clientX: box.left + box.width / 2, clientY: box.top + 200, bubbles: true, cancelable: true };
    const wheel = deltaY => main.dispatchEvent(new WheelEvent('wheel', { ...middle, deltaY }));
    const pointer = (type, dx) => main.dispatchEvent(new PointerEvent(type, { ...middle, clientX: middle.clientX + dx, pointerId: 1, button: 0 }));
    const key = name => main.dispatchEvent(new KeyboardEvent('keydown', { key: name, bubbles: true, cancelable: true }));
    key('0'); await frame();
    const whole = view.step;
    answer.figures.zoom_in = await series(60, () => wheel(-100));
    const deep = view.step;
    answer.figures.zoom_out = await series(60, () => wheel(100));
    wheel(-700); await frame();
    const start = view.start;
    pointer('pointerdown', 0);
    answer.figures.pan = await series(60, i => pointer('pointermove', i * 3));
    pointer('pointerup', 180);
    answer.figures.pan_keys = await series(60, () => key('ArrowRight'));
    key('0'); await frame();
    answer.figures.whole = await series(30, () => wheel(0.001));
    answer.zoomed = deep < whole / 1000 && start !== view.start && Math.abs(view.step / whole - 1) < 0.01;

    pointer('pointermove', 0);
    const tip = document.getElementById('tip');
    const cpu = app.rows.find(row => row.kind === 'cpu');
    main.dispatchEvent(new PointerEvent('pointermove', { ...middle, clientX: box.left + 300, clientY: box.top + 26 + cpu.y - view.scroll + 5 }));
    answer.text = tip.hidden ? '' : tip.textContent;

    const search = document.getElementById('search');
    search.value = 'needle';
    search.dispatchEvent(new Event('input'));
    search.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter' }));
    await frame();
    main.focus();
    show(cpu3.t[own] + 1e6, cpu3.t[own] + 3e6);
    key('p'); await frame();
    const center = view.start + view.step * view.width / 2;
    answer.searched = app.rows[0].label === 'needle-999' && Math.abs(center - cpu3.t[own]) < 2;
    answer.figures.memory_mb = performance.memory ? Math.round(performance.memory.usedJSHeapSize / 1e6) : null;
  } catch (error) {
    answer.error = String(error.stack || error);
  }
  const port = new URLSearchParams(location.search).get('port');
  await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', mode: 'no-cors', body: JSON.stringify(answer) });
})();
