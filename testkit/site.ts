/** The web server of a test or a benchmark. It bundles a page at the first request, with the addresses of the emulators. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

export interface Site {
  /** The address of the page `<name>.ts`, with `html` in its `#root`. */
  address(name: string, parameters?: Record<string, string>, html?: string): Promise<string>;
  close(): Promise<void>;
}

/** @param pages  the folder of the pages */
export async function startSite(pages: URL): Promise<Site> {
  const answers = new Map<string, { contentType: string; body: string }>();
  const server = createServer(({ url = "/" }, response) => {
    const answer = answers.get(url);
    response.writeHead(answer ? 200 : 404, answer && { "content-type": answer.contentType }).end(answer?.body);
  });
  await once(server.listen(0, "localhost"), "listening");
  const origin = `http://localhost:${(server.address() as AddressInfo).port}`;
  return {
    async address(name, parameters = {}, html = "") {
      const script = `/${name}.js`;
      if (!answers.has(script)) {
        answers.set(script, {
          contentType: "text/javascript; charset=utf-8",
          body: await bundle(new URL(`${name}.ts`, pages)),
        });
      }
      const body =
        '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">' +
        `<div id="root">${html}</div><script type="module" src="${script}"></script>`;
      const page = `/${name}?${new URLSearchParams(parameters)}`;
      answers.set(page, { contentType: "text/html; charset=utf-8", body });
      return origin + page;
    },
    async close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function bundle(page: URL): Promise<string> {
  const variables = ["GCLOUD_PROJECT", "FIRESTORE_EMULATOR_HOST", "FIREBASE_AUTH_EMULATOR_HOST"];
  const environment = { NODE_ENV: "development", ...Object.fromEntries(variables.map((v) => [v, process.env[v]])) };
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(page)],
    bundle: true,
    write: false,
    format: "esm",
    platform: "browser",
    jsx: "automatic",
    target: "es2022",
    logLevel: "warning",
    define: Object.fromEntries(Object.entries(environment).map(([n, v]) => [`process.env.${n}`, JSON.stringify(v)])),
    // Without the project's settings, `firestore-tally` is the built package and not its source.
    tsconfigRaw: {},
  });
  return outputFiles[0]?.text ?? "";
}
