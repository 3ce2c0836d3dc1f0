/** Holds what was measured to the recorded bars. Pure. */
import { BARS, type BarName, barOf } from './bars.ts';
import type { Figure, Kept } from './result.ts';

/** Whether a figure is beyond its bar. A figure that is not a number is. */
function isMissed(figure: Figure, name: BarName): boolean {
  const { limit, better } = barOf(name);
  return better === 'more' ? !(figure.measured >= limit) : !(figure.measured <= limit);
}

/**
 * What failed, a sentence each: figures beyond their bars, and bars of parts that ran which no figure names.
 *
 * @param taken The parts that ran.
 */
export function failures(taken: Kept): string[] {
  const found: string[] = [];
  for (const [part, { figures }] of Object.entries(taken)) {
    for (const figure of figures) {
      if (figure.bar === null || !isMissed(figure, figure.bar)) continue;
      const { limit, better = 'less' } = barOf(figure.bar);
      const bound = better === 'more' ? 'at least' : 'at most';
      found.push(
        `${figure.what}: ${figure.measured.toFixed(2)} ${figure.unit}, ${bound} ${limit} is recorded (${part})`,
      );
    }
    for (const name of Object.keys(BARS) as BarName[]) {
      if (!name.startsWith(`${part}: `) || figures.some(({ bar }) => bar === name)) continue;
      found.push(`${name}: has a bar, and nothing was measured for it`);
    }
  }
  return found;
}
