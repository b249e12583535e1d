// Rows: what stands beneath one another, each made of tracks.
const TASKS = 8;
const HEIGHT = { title: 22, marks: 16, windows: 20, frequency: 46, cpu: 18, idle: 9, cpu_util: 34, task: 14, task_util: 34 };
const CORES = ['s2', 's1', 's6', 's4'];
const app = { groups: [], lanes: [], rows: [], cores: [], picked: null, loadMs: 0, drawMs: 0 };

/** A track per distinct `what`, ascending in it: [what, track]. */
function split(track) {
  const sizes = new Map();
  for (let i = 0; i < track.n; i++) sizes.set(track.what[i], (sizes.get(track.what[i]) || 0) + 1);
  if (sizes.size === 1) return [[track.what[0], track]];
  const parts = new Map([...sizes].map(([what, n]) => [what, { from: new Float64Array(n), to: new Float64Array(n), n: 0 }]));
  for (let i = 0; i < track.n; i++) {
    const part = parts.get(track.what[i]);
    part.from[part.n] = track.t[i];
    part.to[part.n++] = track.to[i];
  }
  return [...parts].sort((a, b) => a[0] - b[0])
    .map(([what, part]) => [what, spansTrack(part.from, part.to, new Uint32Array(part.n).fill(what), null)]);
}

/** Two ascending lists of spans as one. A task is on one CPU at a time: where damaged data say
 * otherwise, the later span begins when the earlier one ends. */
function merge(a, b) {
  const n = a.from.length + b.from.length;
  const out = { from: new Float64Array(n), to: new Float64Array(n), what: new Uint32Array(n) };
  let end = 0;
  for (let i = 0, j = 0, k = 0; k < n; k++) {
    const first = j >= b.from.length || (i < a.from.length && a.from[i] <= b.from[j]);
    const side = first ? a : b, at = first ? i++ : j++;
    out.from[k] = Math.max(side.from[at], end);
    end = out.to[k] = Math.max(side.to[at], out.from[k]);
    out.what[k] = side.what[at];
  }
  return out;
}

function mergeAll(lists) {
  while (lists.length > 1) {
    const next = [];
    for (let i = 0; i < lists.length; i += 2) next.push(i + 1 < lists.length ? merge(lists[i], lists[i + 1]) : lists[i]);
    lists = next;
  }
  return lists[0];
}

/** Where the wanted tasks of a group ran: tracks by CPU, by kind of core, and all in one. */
function gather(g, wanted) {
  const slot = new Int32Array(app.groups[g].tasks.length).fill(-1);
  wanted.forEach((task, i) => { slot[task] = i; });
  const parts = wanted.map(() => []);
  for (const lane of app.lanes) {
    if (lane.group !== g || lane.kind !== 'cpu') continue;
    const { what, t, to, n } = lane.track, sizes = new Uint32Array(wanted.length);
    for (let i = 0; i < n; i++) { const s = slot[what[i]]; if (s >= 0) sizes[s]++; }
    const own = wanted.map((_, s) => sizes[s] && {
      lane, core: lane.core, n: 0, from: new Float64Array(sizes[s]), to: new Float64Array(sizes[s]), what: new Uint32Array(sizes[s]).fill(lane.cpu),
    });
    for (let i = 0; i < n; i++) {
      const s = slot[what[i]];
      if (s >= 0) { const part = own[s]; part.from[part.n] = t[i]; part.to[part.n++] = to[i]; }
    }
    own.forEach((part, s) => { if (part) parts[s].push(part); });
  }
  const track = list => spansTrack(list.from, list.to, list.what, null);
  return parts.map(list => {
    const cores = [...new Set(list.map(part => part.core))].sort((a, b) => a - b);
    const layers = cores.map(core => ({ core, track: track(mergeAll(list.filter(part => part.core === core))) }));
    const whole = layers.length === 1 ? layers[0].track : list.length ? track(mergeAll(list)) : null;
    return { byLane: new Map(list.map(part => [part.lane, track(part)])), layers, whole };
  });
}

/** The rows of a task: where it ran, and its utilisation. */
function taskRows(g, task, tracks, picked) {
  const { name, tid } = app.groups[g].tasks[task];
  const rows = [];
  if (tracks.whole) {
    const layers = tracks.layers.map(({ core, track }) => ({ track, color: CORES[core % CORES.length] }));
    rows.push({ kind: 'task', group: g, task, label: `${name}-${tid}`, layers, whole: tracks.whole, picked });
  }
  for (const lane of app.lanes) {
    if (lane.group === g && lane.kind === 'task_util' && lane.task === task) rows.push(valuesRow(lane, 's3', `${name}-${tid} util`));
  }
  return rows;
}

function valuesRow(lane, color, label) {
  const top = lane.kind === 'frequency' ? lane.track.most : 1024;
  return { kind: lane.kind, group: lane.group, cpu: lane.cpu, label: label || lane.name, values: lane.track, color, top };
}

/** A row of spans in layers: one colour each. */
function layered(lane, color) {
  const parts = split(lane.track);
  const layers = parts.length > 12 ? [{ track: lane.track, color: color(lane.track.what[0], 0, 1) }]
    : parts.map(([what, track], i) => ({ track, color: color(what, i, parts.length) }));
  return { kind: lane.kind, group: lane.group, cpu: lane.cpu, label: lane.name, layers, whole: lane.track, lane };
}

/** All rows, from top to bottom; called again when another task is picked. */
function buildRows() {
  const rows = [];
  app.groups.forEach((group, g) => {
    const of = kind => app.lanes.filter(lane => lane.group === g && lane.kind === kind);
    if (app.groups.length > 1) rows.push({ kind: 'title', group: g, label: group.name });
    if (app.picked && app.picked.group === g) rows.push(...taskRows(g, app.picked.task, app.picked.tracks, true));
    for (const lane of of('marks')) rows.push({ kind: 'marks', group: g, label: 'marks', marks: lane.track });
    group.windowRows = group.windowRows || of('windows').map(lane => layered(lane, (what, i) => group.texts[what].includes('missed its deadline') ? 'alarm' : `s${(i + 5) % 8}`));
    rows.push(...group.windowRows);
    for (const lane of of('frequency')) rows.push(valuesRow(lane, 's0'));
    const cpus = [...new Set(app.lanes.filter(lane => lane.group === g && lane.cpu !== undefined && lane.kind !== 'lost').map(lane => lane.cpu))];
    cpus.sort((a, b) => a - b);
    group.idleRows = group.idleRows || of('idle').map(lane => layered(lane, (what, i, n) => ['muted', 0.3 + 0.55 * (n > 1 ? i / (n - 1) : 1)]));
    for (const cpu of cpus) {
      for (const lane of of('cpu').filter(lane => lane.cpu === cpu)) {
        const core = app.cores.length > 1 ? ` ${app.cores[lane.core]}` : '';
        rows.push({ kind: 'cpu', group: g, cpu, label: lane.name + core, lane, layers: [{ track: lane.track, color: CORES[lane.core % CORES.length] }], whole: lane.track });
      }
      rows.push(...group.idleRows.filter(row => row.cpu === cpu));
      for (const lane of of('cpu_util').filter(lane => lane.cpu === cpu)) rows.push(valuesRow(lane, 's5'));
    }
    const most = group.tasks.map((_, task) => task).filter(task => group.tasks[task].slices > 0).slice(0, TASKS);
    group.most = group.most || gather(g, most);
    most.forEach((task, i) => rows.push(...taskRows(g, task, group.most[i], false)));
    const shown = new Set(most);
    for (const lane of of('task_util')) {
      // A trace may have the signals of tasks without who ran when.
      if (!group.tasks.some(task => task.slices > 0) && !shown.has(lane.task)) rows.push(valuesRow(lane, 's3'));
    }
  });
  let y = 0;
  for (const row of rows) { row.y = y; row.height = HEIGHT[row.kind]; y += row.height + (row.kind === 'cpu' || row.kind === 'title' ? 1 : 4); }
  app.rows = rows;
  app.rowsHeight = y;
  app.lost = app.lanes.filter(lane => lane.kind === 'lost');
}
