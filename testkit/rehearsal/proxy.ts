/**
 * An HTTPS proxy that answers itself instead of forwarding. So the CLI runs unchanged, and the names of APIs that it takes from its
 * hosts stay right. A host without an answer gets an error: nothing leaves this machine.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { createSecureContext, TLSSocket } from "node:tls";
import type { ApiAnswer, ApiRequest } from "./fakeApis.ts";

export interface Proxy {
  /** The value of `HTTPS_PROXY`. */
  readonly url: string;
  close(): void;
}

export async function startProxy(
  certificate: { readonly key: string; readonly cert: string },
  answer: (request: ApiRequest) => ApiAnswer,
): Promise<Proxy> {
  const secureContext = createSecureContext(certificate);
  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    const { method = "GET", url = "/", headers } = request;
    const host = (headers.host ?? "").replace(/:\d+$/, "");
    const { status, body } = answer({ method, host, url, bytes: await buffer(request) });
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  };
  const hosts = createServer((request, response) => {
    respond(request, response).catch((error: Error) => response.writeHead(500).end(String(error.stack)));
  });
  const sockets = new Set<Socket>();
  const server = createServer((_, response) => response.writeHead(501).end("only CONNECT is answered\n"));
  server.on("connect", (_, socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
    const secure = new TLSSocket(socket, { isServer: true, secureContext });
    hosts.emit(
      "connection",
      secure.on("error", () => {}),
    );
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
