// Writes arrays of version 3 by zarrita below a folder, or checks those of Ashlar.
//
//	node cross.mjs MODULES write FOLDER
//	node cross.mjs MODULES check FOLDER NAME...
//
// MODULES is the folder that npm installed zarrita in. Element i is i * 7 % 251; of an array whose
// name begins with holes, the rows from 20 on are 7.
import { rmSync } from "node:fs";
import { pathToFileURL } from "node:url";
const zarr = await import(pathToFileURL(process.argv[2] + "/node_modules/zarrita/dist/src/index.js").href);
const { default: Store } = await import(pathToFileURL(process.argv[2] + "/node_modules/@zarrita/storage/dist/src/fs.js").href);

const shape = [37, 50];
const number = (i) => (i * 7) % 251;
const [, , , action, folder, ...names] = process.argv;
const types = { int32: Int32Array, float64: Float64Array, uint8: Uint8Array, int16: Int16Array, float32: Float32Array };
if (action === "write") {
  const codecs = { zstd: [{ name: "zstd", configuration: { level: 3 } }], none: [],
    transpose: [{ name: "transpose", configuration: { order: [1, 0] } }, { name: "bytes", configuration: { endian: "big" } }] };
  for (const cname of ["lz4", "lz4hc", "blosclz", "zlib", "zstd"]) {
    for (const shuffle of [0, 1, 2]) codecs[`blosc-${cname}-${shuffle}`] = [{ name: "blosc", configuration: { cname, clevel: 5, shuffle, blocksize: 0 } }];
  }
  for (const [name, list] of Object.entries(codecs)) {
    if (name !== "transpose") list.unshift({ name: "bytes", configuration: { endian: "little" } });
    for (const [type, Data] of Object.entries(types)) {
      try {
        const a = await zarr.create(zarr.root(new Store(`${folder}/${name}-${type}`)), { shape, chunkShape: [16, 20], dtype: type, codecs: list, fillValue: 0 });
        const data = new Data(37 * 50).map((_, i) => number(i));
        await zarr.set(a, null, { data, shape, stride: [50, 1] });
        console.log(`${name}-${type}`);
      } catch (e) { rmSync(`${folder}/${name}-${type}`, { recursive: true, force: true }); console.error(`${name}-${type}: zarrita can't write it: ${e.message}`); }
    }
  }
} else {
  for (const name of names) {
    const a = await zarr.get(await zarr.open.v3(zarr.root(new Store(`${folder}/${name}`)), { kind: "array" }));
    for (let r = 0; r < 37; r++) for (let c = 0; c < 50; c++) {
      const got = a.data[r * a.stride[0] + c * a.stride[1]];
      const want = name.startsWith("holes") && r >= 20 ? 7 : number(r * 50 + c);
      if (got !== want) throw new Error(`${name}: element ${r},${c} is ${got}`);
    }
    console.log(`${name} same`);
  }
}
