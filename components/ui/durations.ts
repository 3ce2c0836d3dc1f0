/** Lengths of time in words, beside those of the contract. Pure: the caller says what time it is. */
import { lengthInWords } from '#lib/contract/amount-words.ts';

export { lengthInWords, sizeInWords } from '#lib/contract/amount-words.ts';

const MINUTE = 60;
const HOUR = 3600;
const DAY = 86_400;

/** How long something still holds, in days, rounded up: `90 days`. What ends within a day: `8 minutes`. */
export function leftInWords(seconds: number): string {
  return seconds > DAY ? `${Math.ceil(seconds / DAY)} days` : lengthInWords(seconds);
}

/** How long ago `seconds` are: `3 days ago`, `just now` below five seconds. */
export function agoInWords(seconds: number): string {
  return seconds < 5 ? 'just now' : `${lengthInWords(seconds)} ago`;
}

/** A threshold as a person would say it: `15 min`, `24 h`, `90 s`, `2 d`. Exact: it never rounds. */
export function thresholdInWords(seconds: number): string {
  if (seconds >= 2 * DAY && seconds % DAY === 0) return `${seconds / DAY} d`;
  if (seconds >= HOUR && seconds % HOUR === 0) return `${seconds / HOUR} h`;
  if (seconds >= MINUTE && seconds % MINUTE === 0) return `${seconds / MINUTE} min`;
  return `${seconds} s`;
}

/** When a process is paused, as a person would say it: `30 s`; `never` for 0. */
export function pauseInWords(seconds: number): string {
  return seconds === 0 ? 'never' : thresholdInWords(seconds);
}

/** A countdown: `14:32`, `23:59:12`, `3 d 04:12:00`; `now` at zero and below. */
export function countdown(seconds: number): string {
  if (seconds <= 0) return 'now';
  const two = (value: number) => String(value).padStart(2, '0');
  const days = Math.floor(seconds / DAY);
  const hours = Math.floor((seconds % DAY) / HOUR);
  const minutes = Math.floor((seconds % HOUR) / MINUTE);
  const rest = Math.floor(seconds % MINUTE);
  if (days > 0) return `${days} d ${two(hours)}:${two(minutes)}:${two(rest)}`;
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

/** A measured time: `0.6 ms`, `34 ms`, `1.2 s`. */
export function tookInWords(ms: number): string {
  if (ms >= 1000) return `${(ms / 1000).toFixed(1)} s`;
  return ms >= 10 ? `${Math.round(ms)} ms` : `${ms.toFixed(1)} ms`;
}
