/** Files of a hot sandbox over HTTP, beside `agentfs-sdk` and plain files behind bare Node HTTP servers, in turn. */
import { must, timed } from './measure.ts';
import { figureOf, type PartResult, seriesOf } from './result.ts';
import { once, roundRobin } from './round-robin.ts';
import { fileUrl, makeSandbox } from './sandboxes.ts';
import {
  FLOOR,
  KEY,
  startAgentFs,
  startAll,
  startBare,
  startPlainFiles,
  startWinterdock,
  UNLIMITED,
} from './server.ts';
import { ratioOf } from './statistics.ts';

const PAGE = Buffer.alloc(4096, 'x');
/** Files of the folder that is listed. */
const LISTED = 100;
const EXCLUDES = {
  floor: 'a file system: it appends to one file.',
  ours: 'a shell that reads and writes them, which never leaves its process.',
  plain: 'keys, limits, quotas, more than one file that changes at once, or a file system in one file.',
  theirs: 'keys, limits, quotas or another process: its library is called in the server that answers.',
};

/** `rounds` calls of each contender. */
export async function measureFiles(rounds: number): Promise<PartResult> {
  const [server, agentFs, folder, bare] = await startAll([
    startWinterdock(UNLIMITED),
    startAgentFs(),
    startPlainFiles(),
    startBare(),
  ]);
  const ours = (path: string) => fileUrl(server, 'files', path);
  const listUrl = `${server.url}/api/instances/files/folders/workspace?path=/folder&limit=${LISTED}`;
  const theirs = (path: string) => `${agentFs.url}/${path}`;
  const plain = (path: string) => `${folder.url}/${path}`;
  try {
    await makeSandbox(server, 'files');
    for (let n = 0; n < LISTED; n += 1) {
      await must('PUT', ours(`folder/file-${n}`), KEY, PAGE);
      await must('PUT', theirs(`folder/file-${n}`), '', PAGE);
      await must('PUT', plain(`folder/file-${n}`), '', PAGE);
    }
    let written = 0;
    const path = () => `written/file-${written++}`;
    const found = await roundRobin(rounds, {
      bare: once(() => timed(() => must('POST', bare.url, KEY, PAGE))),
      ourWrite: once(() => timed(() => must('PUT', ours(path()), KEY, PAGE))),
      theirWrite: once(() => timed(() => must('PUT', theirs(path()), '', PAGE))),
      plainWrite: once(() => timed(() => must('PUT', plain(path()), '', PAGE))),
      ourRead: once(() => timed(() => must('GET', ours('folder/file-7'), KEY))),
      theirRead: once(() => timed(() => must('GET', theirs('folder/file-7'), ''))),
      plainRead: once(() => timed(() => must('GET', plain('folder/file-7'), ''))),
      ourList: once(() => timed(() => must('GET', listUrl, KEY))),
      theirList: once(() => timed(() => must('GET', theirs('folder/'), ''))),
      plainList: once(() => timed(() => must('GET', plain('folder/'), ''))),
    });
    const our = { floor: FLOOR, excludes: EXCLUDES.ours };
    const their = { floor: FLOOR, excludes: EXCLUDES.theirs };
    const beside = { floor: FLOOR, excludes: EXCLUDES.plain };
    const ratio = (
      what: string,
      one: keyof typeof found,
      other: keyof typeof found,
      excludes: string = EXCLUDES.theirs,
    ) => figureOf(what, ratioOf(found[one], found[other]), { unit: '×', excludes });
    return {
      series: [
        seriesOf(FLOOR, found.bare, { excludes: EXCLUDES.floor }),
        seriesOf('write of a new 4 kB file', found.ourWrite, our),
        seriesOf('AgentFS: write of a new 4 kB file', found.theirWrite, their),
        seriesOf('plain files: write of a new 4 kB file', found.plainWrite, beside),
        seriesOf('read of a 4 kB file', found.ourRead, our),
        seriesOf('AgentFS: read of a 4 kB file', found.theirRead, their),
        seriesOf('plain files: read of a 4 kB file', found.plainRead, beside),
        seriesOf(`list of ${LISTED} files`, found.ourList, our),
        seriesOf(`AgentFS: list of ${LISTED} files`, found.theirList, their),
        seriesOf(`plain files: list of ${LISTED} files`, found.plainList, beside),
      ],
      figures: [
        ratio('write / AgentFS’s', 'ourWrite', 'theirWrite'),
        ratio('read / AgentFS’s', 'ourRead', 'theirRead'),
        ratio('list / AgentFS’s', 'ourList', 'theirList'),
        ratio('write / a plain file’s', 'ourWrite', 'plainWrite', EXCLUDES.plain),
        ratio('read / a plain file’s', 'ourRead', 'plainRead', EXCLUDES.plain),
        ratio('list / a plain folder’s', 'ourList', 'plainList', EXCLUDES.plain),
      ],
    };
  } finally {
    await Promise.all([server.stop(), agentFs.stop(), folder.stop(), bare.stop()]);
  }
}
