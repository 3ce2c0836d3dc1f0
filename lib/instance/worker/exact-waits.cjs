'use strict';
/**
 * Makes a wait for a number in shared memory end when the number has changed, or the time is over. A wake-up alone is
 * no end of it: just-bash sets the answer to its Python thread first and wakes that afterwards, so a thread that found
 * the answer in between is woken in the wait for its next one, and would take that for failed (EIO), then the late
 * answer for another's.
 */
const { load, wait } = Atomics;
const now = performance.now.bind(performance);

Atomics.wait = (numbers, index, value, timeoutMs = Number.POSITIVE_INFINITY) => {
  const until = now() + timeoutMs;
  for (;;) {
    const end = wait(numbers, index, value, until - now());
    if (end !== 'ok' || load(numbers, index) !== value) return end;
  }
};
