/** `shuf`: lines, words or numbers in a random order. */

import { randomInt } from 'node:crypto';
import { requireUse } from '../declared-uses.ts';
import { type OwnCommand, reasonOf } from './own-command.ts';
import { byteLines, countOf, printBytes } from './text-inputs.ts';

export const shuf: OwnCommand = {
  async main(call) {
    const { options, operands } = call.options({
      letters: 'ei:n:ro:z',
      long: { echo: 'e', 'input-range=': 'i', 'head-count=': 'n', repeat: 'r', 'output=': 'o', 'zero-terminated': 'z' },
    });
    const value = (key: string) => options.findLast((option) => option.key === key)?.value ?? null;
    const has = (key: string) => options.some((option) => option.key === key);
    const end = has('z') ? '\0' : '\n';
    const range = value('i');
    let items: string[];
    if (range !== null) {
      const [, low, high] = /^(\d+)-(\d+)$/.exec(range) ?? [];
      if (low === undefined || high === undefined) return call.end(`invalid input range: ‘${range}’`);
      const count = Number(high) - Number(low) + 1;
      if (count < 0 || count > 10_000_000) return call.end(`invalid input range: ‘${range}’`);
      items = Array.from({ length: count }, (_, at) => String(Number(low) + at));
    } else if (has('e')) items = operands.map((operand) => Buffer.from(operand).toString('latin1'));
    else {
      const name = operands[0] ?? '-';
      try {
        items = byteLines(await call.input(name), end).map((line) => (line.endsWith(end) ? line.slice(0, -1) : line));
      } catch (error) {
        return call.end(`${name}: ${reasonOf(error)}`);
      }
    }
    const wanted = value('n') === null ? Number.POSITIVE_INFINITY : countOf(value('n') ?? '')?.count;
    if (wanted === undefined) return call.end(`invalid line count: ‘${value('n')}’`);
    const shown: string[] = [];
    requireUse(call, 'random');
    if (has('r')) {
      if (wanted === Number.POSITIVE_INFINITY) return call.end('-r without -n has no end and is not supported');
      while (shown.length < wanted && items.length > 0) shown.push(items[randomInt(items.length)] ?? '');
    } else {
      for (let at = 0; at < Math.min(wanted, items.length); at += 1) {
        const other = at + randomInt(items.length - at);
        [items[at], items[other]] = [items[other] ?? '', items[at] ?? ''];
        shown.push(items[at] ?? '');
      }
    }
    const text = shown.map((item) => item + end).join('');
    const output = value('o');
    if (output === null) printBytes(call, text);
    else await call.changes.writeFile(call.path(output), Buffer.from(text, 'latin1'));
    return undefined;
  },
};
