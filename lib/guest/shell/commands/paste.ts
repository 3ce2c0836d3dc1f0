/** `paste`: lines of inputs beside each other, or all lines of one beside each other. */
import { type OwnCommand, reasonOf } from './own-command.ts';
import { byteLines, printBytes } from './text-inputs.ts';

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', '0': '', '\\': '\\' };

export const paste: OwnCommand = {
  async main(call) {
    const { options, operands } = call.options({
      letters: 'd:sz',
      long: { 'delimiters=': 'd', serial: 's', 'zero-terminated': 'z' },
    });
    const end = options.some(({ key }) => key === 'z') ? '\0' : '\n';
    const given = options.findLast(({ key }) => key === 'd')?.value ?? '\t';
    const delimiters = [...given.matchAll(/\\(.)|[^\\]/gsu)].map(([whole, escaped]) =>
      Buffer.from(escaped === undefined ? whole : (ESCAPES[escaped] ?? escaped)).toString('latin1'),
    );
    const delimiter = (at: number) => (delimiters.length === 0 ? '' : (delimiters[at % delimiters.length] ?? ''));
    const names = operands.length === 0 ? ['-'] : operands;
    // Several `-` take turns at the lines of standard input.
    const standard = { lines: names.includes('-') ? byteLines(call.stdin, end) : [], next: 0 };
    const inputs: { lines: readonly string[]; next: number }[] = [];
    for (const name of names) {
      if (name === '-') {
        inputs.push(standard);
        continue;
      }
      try {
        inputs.push({ lines: byteLines(await call.input(name), end), next: 0 });
      } catch (error) {
        call.fail(`${name}: ${reasonOf(error)}`);
        if (!options.some(({ key }) => key === 's')) return 1;
      }
    }
    const bare = (line: string) => (line.endsWith(end) ? line.slice(0, -1) : line);
    const joined = (cells: readonly string[]) =>
      cells.map((cell, at) => (at === 0 ? cell : delimiter(at - 1) + cell)).join('');
    if (options.some(({ key }) => key === 's')) {
      for (const input of inputs) {
        printBytes(call, joined(input.lines.slice(input.next).map(bare)) + end);
        input.next = input.lines.length;
      }
      return undefined;
    }
    const rows: string[] = [];
    // To shift lines off an array would move all the others each time.
    const take = (input: (typeof inputs)[number]) => bare(input.lines[input.next++] ?? '');
    while (inputs.some(({ lines, next }) => next < lines.length)) rows.push(joined(inputs.map(take)) + end);
    printBytes(call, rows.join(''));
    return undefined;
  },
};
