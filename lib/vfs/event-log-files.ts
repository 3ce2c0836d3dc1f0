/** Where a workspace carries its event log. lib/workbooks/event-log.ts writes the entries. */
import { parseVfsPath } from './paths.ts';

export const EVENT_LOG_PATH = parseVfsPath('/events.org');
/** What the log is moved to when it is full; the one that was there is replaced. */
export const ROTATED_EVENT_LOG_PATH = parseVfsPath('/events-1.org');
