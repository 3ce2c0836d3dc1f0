/**
 * The calls of a start in the workspace's event log. A call that writes is logged in its own commit. Those that write
 * nothing are logged together, at the latest after a second: a commit of its own would take a call ten times as long.
 */

import { EVENT_LOG_PATH, ROTATED_EVENT_LOG_PATH } from '../../vfs/event-log-files.ts';
import type { Overlay } from '../../vfs/overlay.ts';
import { DEFAULT_VOLUME } from '../../vfs/volumes.ts';
import { eventEntry, MAX_EVENT_LOG_BYTES } from '../../workbooks/event-log.ts';
import type { ComponentSpec, ComponentsRequest, StepResult } from '../../workers/protocol/component-call.ts';

/** Entries that wait; beyond them the oldest are counted, not kept. */
const MAX_WAITING = 1000;

export class CallJournal {
  #waiting: string[] = [];
  #dropped = 0;

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** Notes a call. It is in the log after the next `write` that is committed. */
  note(request: Pick<ComponentsRequest, 'workbook' | 'trigger'>, component: ComponentSpec, result: StepResult): void {
    const { error } = result;
    this.#waiting.push(
      eventEntry({
        at: Math.floor(Date.now() / 1000),
        title: `call ${component.path}`,
        properties: {
          event: 'call',
          component: component.path,
          workbook: `${request.workbook.id}@${request.workbook.version}`,
          trigger: request.trigger,
          result: error === undefined ? result.state : `${result.state}: ${error.kind}`,
          took_ms: Math.round(result.tookMs),
        },
        ...(error !== undefined && { body: error.message }),
      }),
    );
    if (this.#waiting.length <= MAX_WAITING) return;
    this.#waiting.shift();
    this.#dropped += 1;
  }

  /** Writes what waits into the files of a call. Keep it until that is committed: `written` forgets it. */
  write(files: Overlay): void {
    if (this.isEmpty) return;
    const dropped =
      this.#dropped === 0
        ? []
        : [
            eventEntry({
              at: Math.floor(Date.now() / 1000),
              title: `${this.#dropped} more calls`,
              properties: { event: 'call' },
            }),
          ];
    const added = Buffer.from([...dropped, ...this.#waiting].join(''));
    const before =
      files.entry(EVENT_LOG_PATH, DEFAULT_VOLUME)?.kind === 'file'
        ? (files.get(EVENT_LOG_PATH, DEFAULT_VOLUME) ?? null)
        : null;
    if (before !== null && before.byteLength + added.byteLength > MAX_EVENT_LOG_BYTES) {
      files.put(ROTATED_EVENT_LOG_PATH, before, DEFAULT_VOLUME);
      files.put(EVENT_LOG_PATH, added, DEFAULT_VOLUME);
      return;
    }
    const separator = before === null || before.byteLength === 0 || before.at(-1) === 10 ? '' : '\n';
    files.put(
      EVENT_LOG_PATH,
      Buffer.concat([before ?? Buffer.alloc(0), Buffer.from(separator), added]),
      DEFAULT_VOLUME,
    );
  }

  /** What was written is committed. */
  written(): void {
    this.#waiting = [];
    this.#dropped = 0;
  }
}
