/** nginx as the cache before a function, with a configuration of its own, in a temporary folder: Debian's package nginx-light. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import getPort from "get-port";
import { until } from "../testkit/until.ts";

export interface CachingProxy {
  readonly port: number;
  /** How many requests it has passed on. */
  passedOn(): number;
  stop(): Promise<void>;
}

/**
 * It keeps what the origin's headers allow, and for a second at most. nginx counts whole seconds of its clock, so it would keep an
 * answer with `max-age=1` for up to two, where a CDN keeps it for one. With the second in the key, an answer ends with it, and
 * each is asked for once (`proxy_cache_lock`), as it is by a CDN.
 *
 * @param origin  `host:port`
 * @throws Error if nginx is not installed, or does not start
 */
export async function startCachingProxy(origin: string): Promise<CachingProxy> {
  const folder = mkdtempSync(join(tmpdir(), "tally-nginx-"));
  const port = await getPort();
  writeFileSync(join(folder, "nginx.conf"), configuration(origin, port, folder));
  const nginx = spawn("nginx", ["-p", folder, "-c", "nginx.conf", "-e", "stderr"], {
    stdio: ["ignore", "inherit", "inherit"],
    // Debian has it where only root looks.
    env: { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` },
  });
  const stop = async () => {
    if (isRunning(nginx)) {
      nginx.kill("SIGQUIT");
      await once(nginx, "exit");
    }
    rmSync(folder, { recursive: true, force: true });
  };
  const failed = once(nginx, "error").then(([error]) => {
    throw error.code === "ENOENT" ? new Error("nginx is missing: apt-get install nginx-light") : error;
  });
  failed.catch(() => undefined);
  const started = until(() => {
    if (nginx.exitCode !== null) throw new Error(`nginx has ended with ${nginx.exitCode}`);
    return isListening(port);
  }, "nginx to start");
  await Promise.race([started, failed]).catch(async (error) => {
    await stop();
    throw error;
  });
  return { port, passedOn: () => readFileSync(join(folder, "passed.log"), "utf8").split("\n").length - 1, stop };
}

function configuration(origin: string, port: number, folder: string): string {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((kind) => `${kind}_temp_path ${kind};`);
  return `
    ${process.getuid?.() === 0 ? "user root;" : ""}
    daemon off;
    pid nginx.pid;
    worker_processes 1;
    events { worker_connections 4096; }
    http {
      ${temporary.join(" ")}
      map $msec $second { "~^(?<whole>[0-9]+)" $whole; }
      map $upstream_cache_status $isPassedOn { HIT 0; default 1; }
      log_format short $upstream_cache_status;
      access_log ${folder}/passed.log short if=$isPassedOn;
      keepalive_requests 100000000;
      proxy_cache_path ${folder}/cache keys_zone=totals:10m inactive=5s;
      upstream origin { server ${origin}; keepalive 64; keepalive_requests 100000000; }
      server {
        listen 127.0.0.1:${port};
        location / {
          proxy_pass http://origin;
          proxy_http_version 1.1;
          proxy_set_header connection "";
          proxy_cache totals;
          proxy_cache_key "$request_uri $second";
          proxy_cache_lock on;
        }
      }
    }`;
}

function isRunning({ pid, exitCode, signalCode }: ChildProcess): boolean {
  return pid !== undefined && exitCode === null && signalCode === null;
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    for (const [event, answer] of [["connect", true] as const, ["error", false] as const]) {
      socket.once(event, () => {
        socket.destroy();
        resolve(answer);
      });
    }
  });
}
