/** Zips in tests: what is in one, and the same with one member changed. */
import { buffer } from 'node:stream/consumers';
import { fromBufferPromise } from 'yauzl';
import { ZipFile } from 'yazl';

export async function membersOf(zip: Buffer): Promise<Map<string, Buffer>> {
  const file = await fromBufferPromise(zip);
  const members = new Map<string, Buffer>();
  for await (const entry of file.eachEntry()) {
    members.set(entry.fileName, await buffer(await file.openReadStreamPromise(entry)));
  }
  return members;
}

/** A zip of these members, in their order. */
export async function zipOf(members: ReadonlyMap<string, Buffer>): Promise<Buffer> {
  const zip = new ZipFile();
  for (const [name, bytes] of members) zip.addBuffer(bytes, name);
  zip.end();
  return buffer(zip.outputStream);
}
