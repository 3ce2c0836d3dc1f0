/** `uniq`: adjacent lines that are the same. */
import { type OwnCommand, reasonOf } from './own-command.ts';
import { byteLines, printBytes } from './text-inputs.ts';

const COUNT_WIDTH = 7;

export const uniq: OwnCommand = {
  async main(call) {
    const { options, operands } = call.options({
      letters: 'cdDuif:s:w:z',
      long: {
        count: 'c',
        repeated: 'd',
        'all-repeated=?': 'D',
        unique: 'u',
        'ignore-case': 'i',
        'skip-fields=': 'f',
        'skip-chars=': 's',
        'check-chars=': 'w',
        'zero-terminated': 'z',
      },
    });
    const has = (key: string) => options.some((option) => option.key === key);
    const number = (key: string, fallback: number, what: string): number => {
      const value = options.findLast((option) => option.key === key)?.value;
      if (value == null) return fallback;
      if (!/^\d+$/.test(value)) call.end(`${value}: invalid number of ${what}`);
      return Number(value);
    };
    const fields = number('f', 0, 'fields to skip');
    const characters = number('s', 0, 'bytes to skip');
    const width = number('w', Number.POSITIVE_INFINITY, 'bytes to compare');
    if (operands.length > 2) call.usage(`extra operand ‘${operands[2]}’`);
    if (has('c') && has('D')) call.usage('printing all duplicated lines and repeat counts is meaningless');
    const end = has('z') ? '\0' : '\n';
    const separator = options.findLast(({ key }) => key === 'D')?.value ?? 'none';
    const keyOf = (line: string) => {
      const skipped = line.replace(new RegExp(`^(?:[ \\t]*[^ \\t]+){0,${fields}}`), '').slice(characters);
      const compared = width === Number.POSITIVE_INFINITY ? skipped : skipped.slice(0, width);
      return has('i') ? compared.toLowerCase() : compared;
    };
    const [input = '-', output] = operands;
    const lines: string[] = [];
    try {
      for (const line of byteLines(await call.input(input), end))
        lines.push(line.endsWith(end) ? line.slice(0, -1) : line);
    } catch (error) {
      call.end(`${input}: ${reasonOf(error)}`);
    }
    const printed: string[] = [];
    for (let at = 0; at < lines.length; ) {
      const key = keyOf(lines[at] ?? '');
      let next = at + 1;
      while (next < lines.length && keyOf(lines[next] ?? '') === key) next += 1;
      const group = lines.slice(at, next);
      at = next;
      if (has('D')) {
        if (group.length < 2) continue;
        if (separator === 'prepend' || (separator === 'separate' && printed.length > 0)) printed.push('');
        printed.push(...group);
        continue;
      }
      if (has('d') && group.length < 2) continue;
      if (has('u') && group.length > 1) continue;
      printed.push(has('c') ? `${String(group.length).padStart(COUNT_WIDTH)} ${group[0]}` : (group[0] ?? ''));
    }
    const text = printed.map((line) => line + end).join('');
    if (output === undefined || output === '-') printBytes(call, text);
    else await call.changes.writeFile(call.path(output), Buffer.from(text, 'latin1'));
    return undefined;
  },
};
