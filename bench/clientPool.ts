/**
 * Chooses the client of the next increment as a large population would: the one that has rested longest. A user with a pending
 * increment makes no other; if every client has one, a new client joins.
 *
 * Without the pool the SDK's queue would decide the result: the SDK sends a client's writes in order, so one slow write would
 * delay every later write of the same client.
 */
export class ClientPool<Client> {
  readonly #create: () => Client;
  readonly #maxSize: number;
  readonly #all: Client[] = [];
  readonly #resting: Client[] = [];
  #turn = 0;

  /**
   * @param size     clients at the start
   * @param maxSize  clients at most; beyond it, clients with pending increments take turns
   */
  constructor(create: () => Client, size: number, maxSize: number) {
    this.#create = create;
    this.#maxSize = maxSize;
    for (let n = 0; n < size; n++) this.#resting.push(this.#join());
  }

  get all(): readonly Client[] {
    return this.#all;
  }

  /** Gives a client a task. The client rests when the task is done. */
  async use(task: (client: Client) => Promise<void>): Promise<void> {
    const rested = this.#resting.shift() ?? (this.#all.length < this.#maxSize ? this.#join() : undefined);
    if (rested === undefined) return await task(this.#all[this.#turn++ % this.#all.length] as Client);
    try {
      await task(rested);
    } finally {
      this.#resting.push(rested);
    }
  }

  #join(): Client {
    const client = this.#create();
    this.#all.push(client);
    return client;
  }
}
