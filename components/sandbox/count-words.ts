/** Numbers of sandboxes in words. Pure. */
import type { State } from '#lib/lifecycle/state-map.ts';

const NUMBERS = [
  'no',
  'one',
  'two',
  'three',
  'four',
  'five',
  'six',
  'seven',
  'eight',
  'nine',
  'ten',
  'eleven',
  'twelve',
];

/** A small number in words, null for a larger one. */
export function numberInWords(count: number): string | null {
  return NUMBERS[count] ?? null;
}

function figures(count: number): string {
  return count.toLocaleString('en');
}

/** The headline of the overview: how many are awake, asleep and archived, in words. */
export function countsInWords(states: Readonly<Record<State, number>>): string {
  const asleep = states.suspended + states.frozen;
  if (states.created + states.active + asleep + states.archived === 0) return 'The dock is empty.';
  const counts = [states.active, asleep, states.archived];
  // A sentence uses either words or figures for its numbers.
  const inWords = counts.every((count) => numberInWords(count) !== null);
  const numbers = counts.map((count) => (count === 0 ? 'none' : inWords ? numberInWords(count) : figures(count)));
  const words = [`${numbers[0]} awake`, `${numbers[1]} asleep`, `${numbers[2]} filed away`];
  const sentence = words.join(', ');
  return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`;
}
