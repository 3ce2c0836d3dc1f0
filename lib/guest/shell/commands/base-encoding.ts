/** `base64`, `base32` and `basenc`. */
import { base32 as base32Codec, base32hex } from '@scure/base';
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

/** `choices` are what the names of encodings among the options stand for. */
function encodingCommand(choices: Readonly<Record<string, Encoding>>, only?: Encoding): OwnCommand {
  return {
    async main(call: CommandCall) {
      const names = Object.fromEntries(Object.keys(choices).map((name) => [name, name]));
      const { options, operands } = call.options({
        letters: 'diw:',
        long: { decode: 'd', 'ignore-garbage': 'i', 'wrap=': 'w', ...names },
      });
      const has = (key: string) => options.some((option) => option.key === key);
      const chosen = only ?? choices[options.findLast(({ key }) => Object.hasOwn(choices, key))?.key ?? ''];
      if (chosen === undefined) return call.usage('missing encoding type');
      const { letter, group, encode, decode } = chosen;
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

const BASE64: Encoding = {
  letter: /[A-Za-z\d+/]/,
  group: 4,
  encode: (bytes) => bytes.toString('base64'),
  decode: (text) => Buffer.from(text, 'base64'),
};

const BASE32: Encoding = {
  letter: /[A-Z2-7]/,
  group: 8,
  encode: (bytes) => base32Codec.encode(bytes),
  decode: (text) => base32Codec.decode(text.slice(0, text.length - (text.length % 8)) + paddedTail(text)),
};

const eightLetters = (first: 0 | 7) => ({
  letter: /[01]/,
  group: 8,
  encode: (bytes: Buffer) =>
    Array.from(bytes, (byte) => {
      const digits = byte.toString(2).padStart(8, '0');
      return first === 0 ? digits : [...digits].toReversed().join('');
    }).join(''),
  decode: (text: string) => {
    const whole = text.match(/.{8}/g) ?? [];
    return Uint8Array.from(whole, (digits) =>
      Number.parseInt(first === 0 ? digits : [...digits].toReversed().join(''), 2),
    );
  },
});

export const base64 = encodingCommand({}, BASE64);
export const base32 = encodingCommand({}, BASE32);
export const basenc = encodingCommand({
  base64: BASE64,
  base64url: {
    letter: /[\w-]/,
    group: 4,
    encode: (bytes) => BASE64.encode(bytes).replaceAll('+', '-').replaceAll('/', '_'),
    decode: (text) => Buffer.from(text, 'base64url'),
  },
  base32: BASE32,
  base32hex: {
    letter: /[\dA-V]/,
    group: 8,
    encode: (bytes) => base32hex.encode(bytes),
    decode: (text) => base32hex.decode(text.slice(0, text.length - (text.length % 8)) + paddedTail(text)),
  },
  base16: {
    letter: /[\dA-F]/,
    group: 2,
    encode: (bytes) => bytes.toString('hex').toUpperCase(),
    decode: (text) => Buffer.from(text, 'hex'),
  },
  base2msbf: eightLetters(0),
  base2lsbf: eightLetters(7),
});

/** The last group of letters, with what makes it whole. */
function paddedTail(text: string): string {
  const tail = text.slice(text.length - (text.length % 8));
  const usable = [0, 0, 2, 2, 4, 5, 5, 7][tail.length] ?? 0;
  return usable === 0 ? '' : tail.slice(0, usable).padEnd(8, '=');
}
