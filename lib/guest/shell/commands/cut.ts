/** `cut`: bytes or fields of each line. */
import type { CommandCall, OwnCommand } from './own-command.ts';
import { byteLines, printBytes, textInputs } from './text-inputs.ts';

type Ranges = readonly { from: number; to: number }[];

export const cut: OwnCommand = {
  async main(call) {
    const { options, operands } = call.options({
      letters: 'b:c:f:d:nsz',
      long: {
        'bytes=': 'b',
        'characters=': 'c',
        'fields=': 'f',
        'delimiter=': 'd',
        'only-delimited': 's',
        'zero-terminated': 'z',
        complement: 'complement',
        'output-delimiter=': 'output',
      },
    });
    const value = (key: string) => options.findLast((option) => option.key === key)?.value;
    const has = (key: string) => options.some((option) => option.key === key);
    const lists = options.filter(({ key }) => 'bcf'.includes(key));
    if (lists.length === 0) call.usage('you must specify a list of bytes, characters, or fields');
    if (lists.length > 1) call.usage('only one list may be specified');
    const byFields = lists[0]?.key === 'f';
    const given = value('d');
    if (given != null && !byFields) call.usage('an input delimiter may be specified only when operating on fields');
    const delimiter = Buffer.from(given ?? '\t').toString('latin1') || '\0';
    if (delimiter.length > 1) call.usage('the delimiter must be a single character');
    const isChosen = chosen(rangesOf(call, lists[0]?.value ?? '', byFields), has('complement'));
    const output = value('output');
    const joint = output == null ? (byFields ? delimiter : '') : Buffer.from(output).toString('latin1');
    const end = has('z') ? '\0' : '\n';
    for await (const { bytes } of textInputs(call, operands)) {
      const cutLine = (line: string): string => {
        const text = line.endsWith(end) ? line.slice(0, -1) : line;
        if (!byFields) return `${joinRuns(text, isChosen, joint)}${end}`;
        if (!text.includes(delimiter)) return has('s') ? '' : `${text}${end}`;
        return `${text
          .split(delimiter)
          .filter((_, at) => isChosen(at + 1))
          .join(joint)}${end}`;
      };
      printBytes(call, byteLines(bytes, end).map(cutLine).join(''));
    }
    return undefined;
  },
};

/** The chosen bytes; with an output delimiter between runs of them. */
function joinRuns(text: string, isChosen: (at: number) => boolean, joint: string): string {
  const runs: string[] = [];
  let last = -1;
  for (let at = 0; at < text.length; at += 1) {
    if (!isChosen(at + 1)) continue;
    const byte = text[at] ?? '';
    if (last === at - 1 && runs.length > 0) runs.push((runs.pop() ?? '') + byte);
    else runs.push(byte);
    last = at;
  }
  return runs.join(joint);
}

function chosen(ranges: Ranges, complement: boolean): (at: number) => boolean {
  return (at) => ranges.some(({ from, to }) => at >= from && at <= to) !== complement;
}

function rangesOf(call: CommandCall, list: string, fields: boolean): Ranges {
  const kind = fields ? 'field' : 'byte/character';
  return list.split(/[,\s]/).map((part) => {
    const match = /^(\d*)(-?)(\d*)$/.exec(part);
    if (!match || part === '') return call.usage(`invalid ${kind} value ‘${part}’`);
    const [, low = '', dash = '', high = ''] = match;
    if (low === '' && high === '') return call.usage('invalid range with no endpoint: -');
    const from = low === '' ? 1 : Number(low);
    const to = dash === '' ? from : high === '' ? Number.POSITIVE_INFINITY : Number(high);
    if (from === 0 || to === 0)
      return call.usage(fields ? 'fields are numbered from 1' : 'byte/character positions are numbered from 1');
    if (to < from) return call.usage('invalid decreasing range');
    return { from, to };
  });
}
