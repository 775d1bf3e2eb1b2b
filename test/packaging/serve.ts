/** A web server for a built page. */
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";

const types: Record<string, string> = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css" };

export async function serve(folder: string): Promise<{ address: string; close(): void }> {
  const server = createServer(async ({ url = "/" }, response) => {
    const path = new URL(url, "http://localhost").pathname;
    const file = path === "/" ? "/index.html" : path;
    const body = await readFile(join(folder, file)).catch(() => undefined);
    response.writeHead(body ? 200 : 404, { "content-type": types[extname(file)] }).end(body);
  });
  await once(server.listen(0, "localhost"), "listening");
  return {
    address: `http://localhost:${(server.address() as AddressInfo).port}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
