/**
 * What ComputeSDK asks of a provider, in types of our own: the package needs no framework, not even for its types. A
 * test with the real framework holds them to its own. Safe for the browser.
 */

export interface ComputeCommandOptions {
  /** Relative to `/workspace`. */
  cwd?: string;
  env?: Record<string, string>;
  /** Milliseconds. */
  timeout?: number;
  /** It is begun and goes on by itself. */
  background?: boolean;
  onStdout?: (data: string) => void;
  onStderr?: (data: string) => void;
}

export interface ComputeCommandResult {
  stdout: string;
  stderr: string;
  exitCode: number;
  durationMs: number;
}

export interface ComputeSandboxInfo {
  id: string;
  provider: string;
  /** `running` while it has a process; `stopped` at rest, from where the next command wakes it. */
  status: 'running' | 'stopped' | 'error';
  createdAt: Date;
  /** Milliseconds that a command may take when it names no time; 0: the policy's. */
  timeout: number;
  metadata: Record<string, unknown>;
}

export interface ComputeFileEntry {
  name: string;
  type: 'file' | 'directory';
  size: number;
  modified: Date;
}

export interface ComputeFileSystem {
  readFile(path: string): Promise<string>;
  writeFile(path: string, content: string): Promise<void>;
  readdir(path: string): Promise<ComputeFileEntry[]>;
  mkdir(path: string): Promise<void>;
  exists(path: string): Promise<boolean>;
  remove(path: string): Promise<void>;
}

/** What `compute.sandbox.create` passes on. What has no meaning here, such as resources, is not read. */
export interface ComputeCreateOptions {
  /** Milliseconds that a command may take when it names no time. */
  timeout?: number;
  /** A blueprint. */
  templateId?: string;
  snapshotId?: string;
  /** Labels: texts, numbers and truth values. */
  metadata?: Record<string, unknown>;
  envs?: Record<string, string>;
  name?: string;
  /** Where commands begin that name no folder. */
  directory?: string;
  signal?: AbortSignal;
  image?: string;
}

export interface ComputeSnapshot {
  id: string;
  provider: string;
  createdAt: Date;
  metadata: Record<string, unknown>;
}
