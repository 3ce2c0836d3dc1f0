/** What a program that another one runs is called by, and what it has printed. */
import type { ExecResult } from 'just-bash';
import { bytesOfText } from '../../../workers/protocol/byte-text.ts';

/** The stdout of a command as bytes. */
export function bytesOfResult({ stdout, stdoutKind, stdoutEncoding }: ExecResult): Uint8Array {
  const bytes = stdoutKind === 'bytes' || stdoutEncoding === 'binary';
  return bytes ? Buffer.from(stdout, 'latin1') : bytesOfText(stdout);
}

/** A word of the shell that stands for exactly this text. */
export function quotedWord(text: string): string {
  return /^[\w./+@%:=,-]+$/.test(text) && !text.includes('=') ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
