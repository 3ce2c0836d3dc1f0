/**
 * What deepagents asks of a sandbox, in types of our own: the package needs no framework, not even for its types. A
 * test with the real framework holds them to its own. Safe for the browser.
 */

/** Says what went wrong; then the rest is missing. */
interface Failable {
  error?: string;
}

export interface DeepFileInfo {
  /** A folder's ends with a slash. */
  path: string;
  is_dir: boolean;
  size: number;
  modified_at: string;
}

export interface DeepReadResult extends Failable {
  /** Text, or the bytes of what is none. */
  content?: string | Uint8Array;
  mimeType?: string;
  totalLines?: number;
  startLine?: number;
  endLine?: number;
  /** Where to read on; missing at the end. */
  nextOffset?: number;
}

interface DeepRawResult extends Failable {
  data?: { content: string | Uint8Array; mimeType: string; created_at: string; modified_at: string };
}

export interface DeepMatches extends Failable {
  matches?: { path: string; line: number; text: string }[];
  truncated?: boolean;
}

export interface DeepChange extends Failable {
  path?: string;
  /** Nothing of a file is kept in the agent's state. */
  filesUpdate?: null;
}

export type DeepFileError = 'file_not_found' | 'permission_denied' | 'is_directory' | 'invalid_path';

/** `SandboxBackendProtocolV2` of deepagents. */
export interface DeepSandboxBackend {
  readonly id: string;
  execute(command: string): Promise<{ output: string; exitCode: number | null; truncated: boolean }>;
  ls(path: string): Promise<Failable & { files?: DeepFileInfo[] }>;
  read(filePath: string, offset?: number, limit?: number): Promise<DeepReadResult>;
  readRaw(filePath: string): Promise<DeepRawResult>;
  write(filePath: string, content: string): Promise<DeepChange>;
  edit(
    filePath: string,
    oldString: string,
    newString: string,
    replaceAll?: boolean,
  ): Promise<DeepChange & { occurrences?: number }>;
  grep(pattern: string, path?: string | null, glob?: string | null, maxCount?: number | null): Promise<DeepMatches>;
  glob(pattern: string, path?: string): Promise<Failable & { files?: DeepFileInfo[]; truncated?: boolean }>;
  delete(filePath: string): Promise<DeepChange>;
  uploadFiles(files: [string, Uint8Array][]): Promise<{ path: string; error: DeepFileError | null }[]>;
  downloadFiles(paths: string[]): Promise<{ path: string; content: Uint8Array | null; error: DeepFileError | null }[]>;
}
