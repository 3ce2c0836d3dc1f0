/** The queue of uploads: which one runs, its progress, what stopped it. Pure. */
import type { VolumeName } from './file-address.ts';

interface Waiting {
  /** Unique. */
  key: string;
  volume: VolumeName;
  /** The target path inside the volume. */
  path: string;
  /** The API address that it is sent to. */
  address: string;
  /** The address of its page. */
  page: string;
  /** Bytes. */
  size: number;
}

type UploadState = 'waiting' | 'sending' | 'exists' | 'done' | 'failed' | 'stopped';

export interface QueuedUpload extends Waiting {
  state: UploadState;
  /** Bytes. */
  sent: number;
  /** Whether it may replace an existing file. */
  replace: boolean;
  says: string | null;
}

export type UploadEnd = { state: 'exists' | 'done' | 'stopped' } | { state: 'failed'; says: string };

export type QueueAction =
  | { type: 'add'; files: readonly Waiting[] }
  | { type: 'start' | 'again' | 'replace' | 'dismiss'; key: string }
  | { type: 'sent'; key: string; bytes: number }
  | { type: 'end'; key: string; end: UploadEnd }
  | { type: 'clear' };

/** Uploads at the same time. */
const AT_ONCE = 2;

function change(queue: readonly QueuedUpload[], key: string, how: Partial<QueuedUpload>): QueuedUpload[] {
  return queue.map((upload) => (upload.key === key ? { ...upload, ...how } : upload));
}

export function uploadQueue(queue: readonly QueuedUpload[], action: QueueAction): readonly QueuedUpload[] {
  switch (action.type) {
    case 'add': {
      const fresh = { state: 'waiting', sent: 0, replace: false, says: null } as const;
      return [...queue, ...action.files.map((file) => ({ ...file, ...fresh }))];
    }
    case 'start':
      return change(queue, action.key, { state: 'sending', sent: 0, says: null });
    case 'sent':
      return change(queue, action.key, { sent: action.bytes });
    case 'end':
      return change(queue, action.key, {
        state: action.end.state,
        says: action.end.state === 'failed' ? action.end.says : null,
      });
    case 'again':
      return change(queue, action.key, { state: 'waiting', sent: 0, says: null });
    case 'replace':
      return change(queue, action.key, { state: 'waiting', sent: 0, replace: true });
    case 'dismiss':
      return queue.filter(({ key }) => key !== action.key);
    case 'clear':
      return queue.filter(({ state }) => state !== 'done' && state !== 'stopped');
  }
}

/** The uploads to start now. */
export function toBegin(queue: readonly QueuedUpload[]): QueuedUpload[] {
  const free = AT_ONCE - queue.filter(({ state }) => state === 'sending').length;
  return queue.filter(({ state }) => state === 'waiting').slice(0, Math.max(0, free));
}

/** The status in a sentence for screen readers; '' before the first upload. */
export function queueInWords(queue: readonly QueuedUpload[]): string {
  if (queue.length === 0) return '';
  const count = (state: UploadState) => queue.filter((upload) => upload.state === state).length;
  const running = count('waiting') + count('sending');
  if (running > 0) return `${running.toLocaleString('en')} still to send.`;
  const parts = [`${count('done')} of ${queue.length} ${queue.length === 1 ? 'file is' : 'files are'} there`];
  if (count('exists') > 0) parts.push(`${count('exists')} to decide on`);
  if (count('failed') > 0) parts.push(`${count('failed')} refused`);
  return `${parts.join(', ')}.`;
}
