/**
 * Who makes the next increment: as in a large population, the one that has rested longest. A user whose increment is
 * under way makes no other, so what one write delays does not delay others; if all are waiting, somebody new comes.
 *
 * Without that, a client's queue would tell the story: the SDK sends a client's writes in order, and one that waits would
 * hold up all that the same client makes later.
 */
export class Population<Member> {
  readonly #make: () => Member;
  readonly #most: number;
  readonly #all: Member[] = [];
  readonly #resting: Member[] = [];
  #turn = 0;

  /**
   * @param size  how many there are at first
   * @param most  how many there may be; then those who wait must make increments, too, in turns
   */
  constructor(make: () => Member, size: number, most: number) {
    this.#make = make;
    this.#most = most;
    for (let n = 0; n < size; n++) this.#resting.push(this.#newcomer());
  }

  get all(): readonly Member[] {
    return this.#all;
  }

  /** Has somebody do something, and rest when it is done. */
  async act(deed: (member: Member) => Promise<void>): Promise<void> {
    const rested = this.#resting.shift() ?? (this.#all.length < this.#most ? this.#newcomer() : undefined);
    if (rested === undefined) return await deed(this.#all[this.#turn++ % this.#all.length] as Member);
    try {
      await deed(rested);
    } finally {
      this.#resting.push(rested);
    }
  }

  #newcomer(): Member {
    const member = this.#make();
    this.#all.push(member);
    return member;
  }
}
