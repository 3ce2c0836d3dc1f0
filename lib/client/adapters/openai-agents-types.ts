/**
 * What the OpenAI Agents SDK asks of a sandbox, in types of our own: the package needs no framework, not even for its
 * types. A test with the real framework holds them to its own. Safe for the browser.
 */

/** A file or folder that a manifest wants; other types are of sandboxes with a host, mounts or a network. */
export interface AgentsEntry {
  type?: string;
  content?: unknown;
  children?: Record<string, AgentsEntry>;
}

/** What is read of the framework's `Manifest`. */
export interface AgentsManifest {
  root: string;
  entries: Record<string, AgentsEntry>;
  environment: object;
  resolveEnvironment(): Promise<Record<string, string>>;
}

/** What a session is found again by, in any process with a key of its tenant. */
export interface AgentsSessionState<M> {
  manifest: M;
  sandboxId: string;
  environment?: Record<string, string>;
  workspaceReady?: boolean;
  [key: string]: unknown;
}

export interface AgentsExecArgs {
  cmd: string;
  /** Relative to the manifest's root. */
  workdir?: string;
  maxOutputTokens?: number;
  /** There is one user: any other rejects. */
  runAs?: string;
}

export interface AgentsExecResult {
  output: string;
  stdout: string;
  stderr: string;
  wallTimeSeconds: number;
  exitCode: number;
  originalTokenCount?: number;
}

interface AgentsPathArgs {
  path: string;
  runAs?: string;
}

export interface AgentsPatchResult {
  status: 'completed' | 'failed';
  output?: string;
}

interface AgentsPatch {
  path: string;
  diff: string;
}

export interface AgentsEditor {
  createFile(operation: AgentsPatch): Promise<AgentsPatchResult>;
  updateFile(operation: AgentsPatch & { moveTo?: string | undefined }): Promise<AgentsPatchResult>;
  deleteFile(operation: { path: string }): Promise<AgentsPatchResult>;
}

/** `SandboxSession` of the framework. It has no `delete`: the end of a run suspends it. */
export interface AgentsSandboxSession<M> {
  state: AgentsSessionState<M>;
  exec(args: AgentsExecArgs): Promise<AgentsExecResult>;
  execCommand(args: AgentsExecArgs): Promise<string>;
  /** Commands run to their end; there is no terminal to write to. */
  supportsPty(): boolean;
  readFile(args: AgentsPathArgs & { maxBytes?: number }): Promise<Uint8Array>;
  viewImage(
    args: AgentsPathArgs,
  ): Promise<{ type: 'image'; image: { data: Uint8Array<ArrayBuffer>; mediaType: string } }>;
  listDir(args: AgentsPathArgs): Promise<{ name: string; path: string; type: 'file' | 'dir' | 'other' }[]>;
  pathExists(path: string, runAs?: string): Promise<boolean>;
  directoryExists(path: string, runAs?: string): Promise<boolean>;
  createEditor(runAs?: string): AgentsEditor;
  materializeEntry(args: AgentsPathArgs & { entry: AgentsEntry }): Promise<void>;
  applyManifest(manifest: M, runAs?: string): Promise<void>;
  /** Suspends it, and gives its workspace as tar.gz, read where it rests. */
  persistWorkspace(): Promise<Uint8Array>;
  /** Unpacks a tar or tar.gz in the place of the workspace. */
  hydrateWorkspace(data: string | ArrayBuffer | Uint8Array): Promise<void>;
  running(): Promise<boolean>;
  /** Stops its commands and suspends it. */
  stop(): Promise<void>;
  close(): Promise<void>;
}

/** What `create` takes of the framework: a manifest, or it with options. */
export interface AgentsCreateArgs<M> {
  manifest?: M | object;
  options?: Record<string, unknown>;
  snapshot?: unknown;
}

/** `SandboxClient` of the framework. */
export interface AgentsSandboxClient<M> {
  readonly backendId: string;
  create(args?: AgentsCreateArgs<M> | M): Promise<AgentsSandboxSession<M>>;
  resume(
    state: AgentsSessionState<M>,
    options?: { clientOptions?: Record<string, unknown> },
  ): Promise<AgentsSandboxSession<M>>;
  /** Deletes the sandbox with its files. */
  delete(state: AgentsSessionState<M>): Promise<void>;
  serializeSessionState(state: AgentsSessionState<M>): Promise<Record<string, unknown>>;
  deserializeSessionState(state: Record<string, unknown>): Promise<AgentsSessionState<M>>;
  canPersistOwnedSessionState(state: AgentsSessionState<M>): boolean;
}
