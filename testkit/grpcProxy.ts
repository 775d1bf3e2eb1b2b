/**
 * A gRPC proxy in front of the Firestore emulator. It passes every message on, in order. Inspectors may read, delay, refuse or
 * rewrite messages: the meter counts them, the governor delays them. It works for any SDK, without a change of the code under test.
 */
import {
  type ClientDuplexStream,
  credentials,
  Client as GrpcClient,
  Metadata,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type StatusObject,
  type status,
} from "@grpc/grpc-js";
import { METHODS, Message, type Method, pathOf } from "./firestoreMessages.ts";

/** Sees the messages of one call. Requests pass the inspectors in order, up to the one that refuses. */
export interface Inspector {
  /** Delays the message, and all later ones of the call, until it resolves. @throws Refused to end the call */
  request?(message: Message): void | Promise<void>;
  response?(message: Message): void;
  /** The server has ended the call. */
  end?(): void;
}

/** Creates the inspector of a call; `undefined` to ignore it. */
export type Inspection = (method: Method) => Inspector | undefined;

/** Thrown by an inspector: the call ends with this status, and its message never reaches the server. */
export class Refused extends Error {
  readonly code: status;

  constructor(code: status, details: string) {
    super(details);
    this.code = code;
  }
}

export interface ProxyOptions {
  /** Milliseconds that every message takes, each way. */
  readonly latency?: number;
  /** How many addresses it listens at. */
  readonly addressCount?: number;
}

export interface GrpcProxy {
  /** `host:port` to connect to instead of the emulator. */
  readonly address: string;
  /**
   * All of them. The SDKs of one process share a connection to one address, which no two users do; and Node drops one on
   * which many calls fail (`streamResetRate` of its HTTP/2 server).
   */
  readonly addresses: readonly string[];
  close(): void;
}

/** Starts a proxy in front of the emulator at `target` (`host:port`). */
export async function startProxy(
  target: string,
  inspections: readonly Inspection[],
  { latency = 0, addressCount = 1 }: ProxyOptions = {},
): Promise<GrpcProxy> {
  const upstream = new GrpcClient(target, credentials.createInsecure());
  const server = new Server();
  for (const method of METHODS) {
    const pass = (call: ServerDuplexStream<Buffer, Buffer>) => {
      const connect = () => upstream.makeBidiStreamRequest(pathOf(method), raw, raw, call.metadata);
      const inspectors = inspections.map((inspect) => inspect(method)).filter((one) => one !== undefined);
      passOn(call, connect, method, inspectors, latency);
    };
    server.register(pathOf(method), pass, raw, raw, "bidi");
  }
  const open = () =>
    new Promise<string>((resolve, reject) =>
      server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, port) =>
        error ? reject(error) : resolve(`127.0.0.1:${port}`),
      ),
    );
  const address = await open();
  const others = await Promise.all(Array.from({ length: addressCount - 1 }, open));
  return {
    address,
    addresses: [address, ...others],
    close() {
      server.forceShutdown();
      upstream.close();
    },
  };
}

/** The messages stay bytes. */
const raw = (message: Buffer) => message;

function passOn(
  call: ServerDuplexStream<Buffer, Buffer>,
  connect: () => ClientDuplexStream<Buffer, Buffer>,
  method: Method,
  inspectors: readonly Inspector[],
  latency: number,
): void {
  const toServer = line(latency);
  const toClient = line(latency);
  let forward: ClientDuplexStream<Buffer, Buffer> | undefined;
  let refused: StatusObject | undefined;
  let gone = false;
  let turn = Promise.resolve();

  const finish = (status: StatusObject) =>
    toClient(() => {
      if (status.code === 0) call.end(status.metadata);
      else call.emit("error", status);
    });

  /** Only once there is something to pass on: a call that is refused outright costs the emulator nothing. */
  const server = () => {
    if (forward) return forward;
    forward = connect();
    forward.on("metadata", (metadata: Metadata) => toClient(() => call.sendMetadata(metadata)));
    forward.on("data", (bytes: Buffer) => {
      const message = new Message(bytes, method, "Response");
      for (const inspector of inspectors) inspector.response?.(message);
      toClient(() => call.write(message.raw));
    });
    forward.on("error", () => undefined);
    forward.on("status", (status: StatusObject) => {
      for (const inspector of inspectors) inspector.end?.();
      // An error of the server is that of an earlier message.
      finish(status.code === 0 && refused ? refused : status);
    });
    return forward;
  };

  /** What was passed on before is still answered, so the server is asked to finish. */
  const refuse = (error: unknown) => {
    if (!(error instanceof Refused)) throw error;
    refused = { code: error.code, details: error.message, metadata: new Metadata() };
    if (forward) forward.end();
    else finish(refused);
  };

  const inTurn = (act: () => void | Promise<void>) =>
    toServer(() => {
      turn = turn.then(() => (refused || gone ? undefined : act())).catch(refuse);
    });

  call.on("data", (bytes: Buffer) =>
    inTurn(async () => {
      const message = new Message(bytes, method, "Request");
      for (const inspector of inspectors) {
        const held = inspector.request?.(message);
        if (held) await held;
      }
      if (!gone) server().write(message.raw);
    }),
  );
  call.on("end", () => inTurn(() => void server().end()));
  call.on("cancelled", () =>
    toServer(() => {
      gone = true;
      forward?.cancel();
    }),
  );
}

/** A line that takes its time and keeps the order. */
function line(latency: number): (act: () => void) => void {
  if (latency === 0) return (act) => act();
  const underWay: (() => void)[] = [];
  return (act) => {
    underWay.push(act);
    setTimeout(() => underWay.shift()?.(), latency);
  };
}
