/** `base64` and `base32`. */
import { base32 as base32Codec } from '@scure/base';
import { type CommandCall, marked, type OwnCommand, reasonOf } from './own-command.ts';

const WIDTH = 76;

interface Encoding {
  /** A character of the encoding. */
  letter: RegExp;
  /** Characters of a whole group. */
  group: number;
  encode(bytes: Buffer): string;
  /** Decodes letters, which may end inside a group. */
  decode(text: string): Uint8Array;
}

function encodingCommand({ letter, group, encode, decode }: Encoding): OwnCommand {
  return {
    async main(call: CommandCall) {
      const { options, operands } = call.options({
        letters: 'diw:',
        long: { decode: 'd', 'ignore-garbage': 'i', 'wrap=': 'w' },
      });
      const has = (key: string) => options.some((option) => option.key === key);
      const width = options.findLast(({ key }) => key === 'w')?.value ?? String(WIDTH);
      if (!/^\d+$/.test(width)) call.end(`invalid wrap size: ${marked(width)}`);
      if (operands.length > 1) call.usage(`extra operand ${marked(operands[1] ?? '')}`);
      const [name = '-'] = operands;
      let content: Buffer;
      try {
        content = await call.input(name);
      } catch (error) {
        return call.end(`${name}: ${reasonOf(error)}`);
      }
      if (!has('d')) {
        call.print(wrapped(encode(content), Number(width)));
        return 0;
      }
      const given = content.toString('latin1').replaceAll('\n', '');
      const text = has('i') ? [...given].filter((one) => letter.test(one) || one === '=').join('') : given;
      const stop = [...text].findIndex((one) => !letter.test(one));
      const letters = stop === -1 ? text : text.slice(0, stop);
      const padding = stop === -1 ? '' : text.slice(stop);
      call.print(decode(letters));
      const whole = /^=*$/.test(padding) && (letters.length + padding.length) % group === 0 && padding.length < group;
      if (!whole) call.end('invalid input');
      return 0;
    },
  };
}

function wrapped(text: string, width: number): string {
  if (width === 0 || text === '') return text;
  return text.replaceAll(new RegExp(`.{1,${width}}`, 'g'), '$&\n');
}

export const base64 = encodingCommand({
  letter: /[A-Za-z\d+/]/,
  group: 4,
  encode: (bytes) => bytes.toString('base64'),
  decode: (text) => Buffer.from(text, 'base64'),
});

export const base32 = encodingCommand({
  letter: /[A-Z2-7]/,
  group: 8,
  encode: (bytes) => base32Codec.encode(bytes),
  decode: (text) => base32Codec.decode(text.slice(0, text.length - (text.length % 8)) + paddedTail(text)),
});

/** The last group of letters, with what makes it whole. */
function paddedTail(text: string): string {
  const tail = text.slice(text.length - (text.length % 8));
  const usable = [0, 0, 2, 2, 4, 5, 5, 7][tail.length] ?? 0;
  return usable === 0 ? '' : tail.slice(0, usable).padEnd(8, '=');
}
