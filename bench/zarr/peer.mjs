// Reads an array by zarrita, slab by slab, and prints the seconds and a sum; or writes one.
//
//	node peer.mjs MODULES read|write FOLDER SLABS
import { pathToFileURL } from "node:url";
const [modules, action, folder, slabs] = process.argv.slice(2);
const zarr = await import(pathToFileURL(modules + "/node_modules/zarrita/dist/src/index.js").href);
const { default: Store } = await import(pathToFileURL(modules + "/node_modules/@zarrita/storage/dist/src/fs.js").href);
const step = 256, [rows, columns] = [1024, 512];
if (action === "read") {
  const a = await zarr.open.v3(zarr.root(new Store(folder)), { kind: "array" });
  await zarr.get(a, [zarr.slice(0, 1), zarr.slice(0, 1), null]); // loads the decoder
  const start = performance.now();
  let sum = 0;
  for (let i = 0; i < slabs; i++) {
    const { data } = await zarr.get(a, [zarr.slice(i * step, (i + 1) * step), null, null]);
    for (let k = 0; k < data.length; k += 9973) sum = (sum + data[k]) % 4294967296;
  }
  console.log((performance.now() - start) / 1000, sum);
} else {
  const shape = [step * slabs, rows, columns];
  const a = await zarr.create(zarr.root(new Store(folder)), { shape, chunkShape: [32, 32, 512], dtype: "uint16", codecs: [{ name: "bytes", configuration: { endian: "little" } }, { name: "zstd", configuration: { level: 3, checksum: false } }] });
  const data = new Uint16Array(step * rows * columns);
  let x = 1;
  for (let k = 0; k < data.length; k++) {
    x = (Math.imul(x, 1664525) + 1013904223) >>> 0;
    data[k] = 1000 + (k >>> 12) % 3000 + (x >>> 28);
  }
  const start = performance.now();
  for (let i = 0; i < slabs; i++) await zarr.set(a, [zarr.slice(i * step, (i + 1) * step), null, null], { data, shape: [step, rows, columns], stride: [rows * columns, columns, 1] });
  console.log((performance.now() - start) / 1000, 0);
}
