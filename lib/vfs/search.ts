/** Search in names and text contents. Limited by hits, file size and time; reports when a limit cut it short. */
import { isUtf8 } from 'node:buffer';
import { WinterdockError } from '../base/errors.ts';
import type { Statements } from './statements.ts';
import { contentBytes } from './table-reader.ts';
import { VOLUMES, type Volume } from './volumes.ts';

export interface SearchRequest {
  text: string;
  in: 'name' | 'content';
  /** All three volumes when missing. */
  volume?: Volume;
  /** Largest number of hits, 1 to 1 000. */
  limit: number;
}

export interface VfsSearchHit {
  volume: Volume;
  path: string;
  /** Line number from 1; only for contents. */
  line?: number;
  /** The line, cut around the hit; only for contents. */
  text?: string;
}

const MAX_HITS = 1000;
/** Larger files are not searched, and the answer reports that it is incomplete. */
const MAX_SEARCHED_BYTES = 8 * 1024 * 1024;
/** After this time a search ends with the hits so far. */
const BUDGET_MS = 2000;
/** A NUL within this many bytes makes a file binary, as in git and grep. */
const BINARY_PROBE_BYTES = 8000;
const SHOWN_CHARACTERS = 200;

/**
 * Hits by volume and path, ignoring case. Contents: lines of UTF-8 files without NUL; binary files are skipped. Throws
 * `validation` for an empty or overlong text and for a limit out of range.
 */
export function searchFiles(
  statements: Statements,
  request: SearchRequest,
): { hits: VfsSearchHit[]; truncated: boolean } {
  const { text, limit } = request;
  if (text === '' || text.length > 1024)
    throw new WinterdockError('validation', 'A search is for 1 to 1024 characters.');
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_HITS) {
    throw new WinterdockError('validation', `A search gives 1 to ${MAX_HITS} hits, not ${limit}.`);
  }
  const volumes = request.volume === undefined ? VOLUMES : [request.volume];
  const until = performance.now() + BUDGET_MS;
  const hits: VfsSearchHit[] = [];
  let truncated = false;
  for (const volume of volumes) {
    const found =
      request.in === 'name' ? namesIn(statements, volume, text, until) : linesIn(statements, volume, text, until);
    for (const hit of found) {
      if (hit === 'cut') truncated = true;
      else if (hits.length === limit) return { hits, truncated: true };
      else hits.push(hit);
    }
  }
  return { hits, truncated };
}

function* namesIn(
  statements: Statements,
  volume: Volume,
  text: string,
  until: number,
): Generator<VfsSearchHit | 'cut'> {
  const needle = text.toLowerCase();
  let steps = 0;
  for (const { path } of statements.iterate<{ path: unknown }>(
    'SELECT path FROM vfs WHERE volume = ? ORDER BY path',
    volume,
  )) {
    if (typeof path === 'string' && path.toLowerCase().includes(needle)) yield { volume, path };
    steps += 1;
    if (steps % 1000 === 0 && performance.now() > until) {
      yield 'cut';
      return;
    }
  }
}

function* linesIn(
  statements: Statements,
  volume: Volume,
  text: string,
  until: number,
): Generator<VfsSearchHit | 'cut'> {
  const needle = text.toLowerCase();
  const sql = `SELECT path, octet_length(content) > ${MAX_SEARCHED_BYTES} AS large,
    CASE WHEN octet_length(content) <= ${MAX_SEARCHED_BYTES} THEN content END AS content FROM vfs WHERE volume = ? ORDER BY path`;
  for (const { path, large, content } of statements.iterate<{ path: unknown; large: number; content: unknown }>(
    sql,
    volume,
  )) {
    if (performance.now() > until) {
      yield 'cut';
      return;
    }
    if (large) yield 'cut';
    if (typeof path !== 'string' || content === null) continue;
    const bytes = contentBytes(content);
    if (bytes.subarray(0, BINARY_PROBE_BYTES).includes(0) || !isUtf8(bytes)) continue;
    for (const hit of linesWith(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString(), needle)) {
      yield { volume, path, ...hit };
    }
  }
}

function* linesWith(text: string, needle: string): Generator<{ line: number; text: string }> {
  if (!text.toLowerCase().includes(needle)) return;
  let number = 0;
  for (const line of text.split('\n')) {
    number += 1;
    const at = line.toLowerCase().indexOf(needle);
    if (at !== -1) yield { line: number, text: shown(line.replace(/\r$/, ''), at) };
  }
}

/** A line, or the part of a long one around the hit. */
function shown(line: string, at: number): string {
  if (line.length <= SHOWN_CHARACTERS) return line;
  const start = Math.max(0, Math.min(at - SHOWN_CHARACTERS / 4, line.length - SHOWN_CHARACTERS));
  const end = start + SHOWN_CHARACTERS;
  return `${start > 0 ? '…' : ''}${line.slice(start, end).toWellFormed()}${end < line.length ? '…' : ''}`;
}
