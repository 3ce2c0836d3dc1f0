/** Writes invalid zips that no library would write: every header can be wrong. For tests of the zip reader. */
import { crc32, deflateRawSync } from 'node:zlib';

const NOTHING = new Uint8Array();

export interface RawEntry {
  name: string;
  content: Uint8Array;
  /** Default: deflated. */
  method?: number;
  flags?: number;
  /** Unix mode, in the upper half of the external attributes. */
  mode?: number;
  /** What the headers say; default: the truth. */
  says?: {
    size?: number;
    localName?: string;
    offset?: number;
    compressedSize?: number;
    localSize?: number;
    localCrc?: number;
  };
  /** Extra fields of the local header and of the directory, and the comment in the directory. */
  extra?: Uint8Array;
  centralExtra?: Uint8Array;
  comment?: Uint8Array;
  /** Bytes after the contents: a data descriptor, or others. */
  after?: Uint8Array;
  /** Bytes before the local header that belong to no member. */
  before?: Uint8Array;
}

/** What is wrong at the end of a zip. */
export interface RawEnd {
  /** Bytes between the last member and the directory, between directory and record, and behind the record. */
  beforeDirectory?: Uint8Array;
  beforeEnd?: Uint8Array;
  behind?: Uint8Array;
  comment?: Uint8Array;
  /** What the record says; default: the truth. */
  says?: { size?: number; offset?: number; onThisDisk?: number; disk?: number };
}

/** The bytes of a zip of these entries, in their order. */
export function rawZip(entries: readonly RawEntry[], tail: RawEnd = {}): Buffer {
  const pieces: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const entry of entries) {
    const { name, content, method = 8, flags = 0, mode = 0o100644, says = {}, before } = entry;
    const body = method === 8 ? deflateRawSync(content) : Buffer.from(content);
    const compressed = says.compressedSize ?? body.length;
    const size = says.size ?? content.byteLength;
    if (before) {
      pieces.push(Buffer.from(before));
      at += before.byteLength;
    }
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(flags, 2);
    common.writeUInt16LE(method, 4);
    common.writeUInt16LE(0x21, 8);
    common.writeUInt32LE(crc32(content), 10);
    common.writeUInt32LE(compressed, 14);
    common.writeUInt32LE(size, 18);
    const localName = Buffer.from(says.localName ?? name);
    const local = Buffer.from(common);
    local.writeUInt16LE(localName.length, 22);
    if (says.localCrc !== undefined) local.writeUInt32LE(says.localCrc, 10);
    if (says.localSize !== undefined) local.writeUInt32LE(says.localSize, 18);
    const { extra = NOTHING, centralExtra = NOTHING, comment = NOTHING, after = NOTHING } = entry;
    local.writeUInt16LE(extra.byteLength, 24);
    pieces.push(Buffer.from('PK\x03\x04', 'latin1'), local, localName, Buffer.from(extra), body, Buffer.from(after));
    const centralName = Buffer.from(name);
    common.writeUInt16LE(centralName.length, 22);
    common.writeUInt16LE(centralExtra.byteLength, 24);
    const rest = Buffer.alloc(14);
    rest.writeUInt16LE(comment.byteLength, 0);
    rest.writeUInt32LE((mode << 16) >>> 0, 6);
    rest.writeUInt32LE(says.offset ?? at, 10);
    // Made by: Unix, so that the mode counts.
    directory.push(Buffer.from('PK\x01\x02\x14\x03', 'latin1'), common, rest, centralName);
    directory.push(Buffer.from(centralExtra), Buffer.from(comment));
    at += 30 + localName.length + extra.byteLength + body.length + after.byteLength;
  }
  const { beforeDirectory = NOTHING, beforeEnd = NOTHING, behind = NOTHING, comment = NOTHING, says = {} } = tail;
  const central = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(says.disk ?? 0, 6);
  end.writeUInt16LE(says.onThisDisk ?? entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(says.size ?? central.length, 12);
  end.writeUInt32LE(says.offset ?? at + beforeDirectory.byteLength, 16);
  end.writeUInt16LE(comment.byteLength, 20);
  return Buffer.concat([...pieces, beforeDirectory, central, beforeEnd, end, comment, behind]);
}
