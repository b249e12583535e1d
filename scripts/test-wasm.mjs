// The answers of the WebAssembly module beside those of this machine's programs (scripts/test-wasm).
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

const [module, programs] = process.argv.slice(2);
const bytes = readFileSync(module);
const compiled = await WebAssembly.compile(bytes);
const imports = WebAssembly.Module.imports(compiled);
if (imports.length) throw new Error(`expected a module without imports, found ${JSON.stringify(imports)}`);

async function asked(request) {
  const { exports } = await WebAssembly.instantiate(compiled, {});
  const text = new TextEncoder().encode(JSON.stringify(request));
  const at = exports.flyball_request(text.length);
  new Uint8Array(exports.memory.buffer, at, text.length).set(text);
  const length = exports.flyball_answer();
  return Buffer.from(exports.memory.buffer, exports.flyball_answer_at(), length);
}

function program(name, args, input) {
  const ran = spawnSync(`${programs}/${name}`, args, { input, maxBuffer: 1 << 30 });
  if (ran.status !== 0) throw new Error(`${name} ${args.join(" ")}: ${ran.stderr}`);
  return ran.stdout;
}

const activity = Array.from({ length: 400 }, (_, n) => {
  const busy = (n * 7919) % 97 * 100_000;
  return [(n + 1) * 10_000_000, 10_000_000, busy, n % 4, 600_000 + (n % 3) * 732_000];
});
const asks = [
  ...["rampup-m1", "page-load", "requests-laptop"].map((scenario) => [
    { sim: { scenario, set: { phases: "3" } } },
    ["sim", scenario, "--phases", "3", "--record", "none", "--format", "json"],
  ]),
  [{ replay: { activity, platform: "rk3399", governors: "schedutil,ondemand,conservative" } }],
  [{ replay: { scenario: "page-load", governors: "schedutil,powersave" } }],
  // What is computed in a second, of every source.
  [{ reproduce: { sources: ["B"] } }, ["reproduce", "--source", "B", "--format", "json"]],
];
let failed = 0;
for (const [request, args] of asks) {
  const kind = Object.keys(request)[0];
  const begun = performance.now();
  const found = await asked(request);
  const took = performance.now() - begun;
  if (found.subarray(0, 10).toString().includes('"error"')) throw new Error(found.toString());
  const sides = [["the library", program("examples/answer", [], JSON.stringify(request))]];
  if (args) sides.push(["flyball " + args.slice(0, 3).join(" "), program("flyball", args)]);
  for (const [name, expected] of sides) {
    if (!found.equals(expected)) {
      let at = 0;
      while (found[at] === expected[at]) at += 1;
      const around = (bytes) => JSON.stringify(bytes.subarray(Math.max(0, at - 60), at + 40).toString());
      console.log(`${kind}: other than ${name} from byte ${at}: expected ${around(expected)}, found ${around(found)}`);
      failed += 1;
    }
  }
  console.log(`${kind}: ${found.length} bytes in ${took.toFixed(0)} ms`);
}
console.log(`WebAssembly: ${asks.length - failed} passed, ${failed} failed; ${(bytes.length / 1e6).toFixed(1)} MB`);
process.exit(failed ? 1 : 0);
