/**
 * An npm registry on this machine that has one package more than npm's: a folder, packed as it would be published. For any other
 * package it redirects to the registry that npm is configured with.
 */
import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const execute = promisify(execFile);

export interface Registry {
  /** What npm's setting `registry` is to be. */
  readonly url: string;
  close(): void;
}

interface Packed {
  readonly filename: string;
  readonly integrity: string;
  readonly shasum: string;
  readonly files: readonly { readonly path: string }[];
}

export async function startRegistry(folder: string): Promise<Registry> {
  const scratch = mkdtempSync(join(tmpdir(), "tally-registry-"));
  const npm = async (...args: string[]) => (await execute("npm", args, { maxBuffer: 10_000_000 })).stdout;
  const upstream = (await npm("config", "get", "registry")).trim().replace(/\/?$/, "/");
  const [packed] = JSON.parse(await npm("pack", "--json", "--pack-destination", scratch, folder)) as [Packed];
  const tarball = readFileSync(join(scratch, packed.filename));
  rmSync(scratch, { recursive: true });

  const server = createServer(({ url = "/" }, response) => {
    const { port } = server.address() as AddressInfo;
    const file = `/${manifest.name}/-/${packed.filename}`;
    if (url === file) return response.writeHead(200, { "content-type": "application/octet-stream" }).end(tarball);
    if (url !== `/${manifest.name}`)
      return response.writeHead(307, { location: new URL(`.${url}`, upstream).href }).end();
    const dist = { tarball: `http://127.0.0.1:${port}${file}`, integrity: packed.integrity, shasum: packed.shasum };
    const version = { ...manifest, _id: `${manifest.name}@${manifest.version}`, _hasShrinkwrap: hasShrinkwrap, dist };
    const answer = {
      name: manifest.name,
      "dist-tags": { latest: manifest.version },
      versions: { [manifest.version]: version },
    };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
  });
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const hasShrinkwrap = packed.files.some(({ path }) => path === "npm-shrinkwrap.json");
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
