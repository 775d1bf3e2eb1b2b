/**
 * A TCP proxy in front of the Firestore emulator: adds latency to connections, or cuts them at the worst moment,
 * between the commit of a write and its acknowledgement.
 */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface Proxy {
  /** `host:port` to connect to instead of the server. */
  readonly address: string;
  close(): Promise<void>;
}

/** A proxy that can cut its connections between a commit and its acknowledgement. */
export interface CuttingProxy extends Proxy {
  /** Withholds the server's answers from now on, on every open connection. */
  withhold(): void;
  /** Breaks all connections whose answers are withheld; new connections work. @returns how many it broke */
  cut(): number;
}

/** Delays what passes, in each direction, by `latencyMs`. Order and bandwidth stay as they are. */
export async function delayingProxy(target: string, latencyMs: number): Promise<Proxy> {
  return await listen(
    target,
    (client, server) => {
      for (const [from, to] of [
        [client, server],
        [server, client],
      ] as const) {
        from.on("data", (chunk) => setTimeout(() => to.writable && to.write(chunk), latencyMs));
        from.on("end", () => setTimeout(() => to.end(), latencyMs));
      }
    },
    latencyMs,
  );
}

/** Passes everything on until told to withhold. */
export async function cuttingProxy(target: string): Promise<CuttingProxy> {
  const open = new Set<{ client: Socket; server: Socket; withheld: boolean }>();
  const proxy = await listen(target, (client, server) => {
    const connection = { client, server, withheld: false };
    open.add(connection);
    client.on("close", () => open.delete(connection));
    client.on("data", (chunk) => server.write(chunk));
    server.on("data", (chunk) => {
      if (!connection.withheld) client.write(chunk);
    });
  });
  return {
    ...proxy,
    withhold() {
      for (const connection of open) connection.withheld = true;
    },
    cut() {
      const withheld = [...open].filter((connection) => connection.withheld);
      for (const { client, server } of withheld) {
        client.resetAndDestroy();
        server.destroy();
      }
      return withheld.length;
    },
  };
}

/** @param latencyMs - how long `pass` takes to pass data on, also from a socket that closes meanwhile */
async function listen(target: string, pass: (client: Socket, server: Socket) => void, latencyMs = 0): Promise<Proxy> {
  const [host, port] = target.split(":");
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect({ host: host as string, port: Number(port), noDelay: true });
    client.setNoDelay(true);
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => other.destroy());
      socket.on("close", () => {
        sockets.delete(socket);
        if (latencyMs === 0) other.destroy();
        else setTimeout(() => other.destroySoon(), latencyMs);
      });
    }
    pass(client, upstream);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
