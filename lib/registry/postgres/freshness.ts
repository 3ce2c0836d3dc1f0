/**
 * How long what was read stays good without another question: a second from the moment in which the last one was sent.
 * By two clocks, whichever ends it first: a machine that was stopped, and goes on an hour later, may have one that
 * stood still.
 */

const FRESH_MS = 1000;

export class Freshness {
  #since = 0;
  #sinceWall = 0;
  #isGranted = false;

  get isFresh(): boolean {
    if (!this.#isGranted) return false;
    const [passed, passedWall] = [performance.now() - this.#since, Date.now() - this.#sinceWall];
    return passed < FRESH_MS && passedWall >= 0 && passedWall < FRESH_MS;
  }

  /** A question is about to be sent. `grant`: its answer is here, and what it says was done. */
  begin(): { grant: () => void } {
    const [since, sinceWall] = [performance.now(), Date.now()];
    return {
      grant: () => {
        this.#since = since;
        this.#sinceWall = sinceWall;
        this.#isGranted = true;
      },
    };
  }

  end(): void {
    this.#isGranted = false;
  }
}
