/**
 * What the AI SDK asks of a sandbox, in types of our own: the package needs no framework, not even for its types. A
 * test with the real framework holds them to its own. Safe for the browser.
 */

interface AiPathOptions {
  path: string;
  abortSignal?: AbortSignal;
}

interface AiWriteOptions<Content> extends AiPathOptions {
  content: Content;
}

export interface AiProcessOptions {
  command: string;
  /** Relative to `/workspace`. */
  workingDirectory?: string;
  env?: Record<string, string>;
  abortSignal?: AbortSignal;
}

/** A script under way. */
export interface AiSandboxProcess {
  readonly stdout: ReadableStream<Uint8Array>;
  readonly stderr: ReadableStream<Uint8Array>;
  /** Its end; rejects with the reason when the signal was aborted. */
  wait(): Promise<{ exitCode: number }>;
  /** Stops it on the server. Doing it again does nothing. */
  kill(): Promise<void>;
}

/** `Experimental_SandboxSession` of the AI SDK. */
export interface AiSandboxSession {
  readonly description: string;
  readonly readFile: (options: AiPathOptions) => Promise<ReadableStream<Uint8Array> | null>;
  readonly readBinaryFile: (options: AiPathOptions) => Promise<Uint8Array | null>;
  readonly readTextFile: (
    options: AiPathOptions & { encoding?: string; startLine?: number; endLine?: number },
  ) => Promise<string | null>;
  readonly writeFile: (options: AiWriteOptions<ReadableStream<Uint8Array>>) => Promise<void>;
  readonly writeBinaryFile: (options: AiWriteOptions<Uint8Array>) => Promise<void>;
  /** Rejects with any other `encoding` than UTF-8. */
  readonly writeTextFile: (options: AiWriteOptions<string> & { encoding?: string }) => Promise<void>;
  readonly stat: (options: AiPathOptions) => Promise<{ type: 'file' | 'directory'; size: number } | null>;
  readonly listDirectory: (
    options: AiPathOptions,
  ) => Promise<{ name: string; type: 'file' | 'directory' | 'symlink' }[] | null>;
  readonly deleteFile: (options: AiPathOptions) => Promise<boolean>;
  /** Runs beside other commands, and up to the time limit of runs. There is no open stdin: `stdin: true` rejects. */
  readonly spawn: {
    (options: AiProcessOptions & { stdin: true }): Promise<never>;
    (options: AiProcessOptions & { stdin?: boolean }): Promise<AiSandboxProcess>;
  };
  readonly run: (options: AiProcessOptions) => Promise<{ exitCode: number; stdout: string; stderr: string }>;
}

/** `HarnessV1NetworkSandboxSession` of the AI SDK. */
export interface AiNetworkSandboxSession extends AiSandboxSession {
  readonly id: string;
  readonly defaultWorkingDirectory: string;
  /** None: nothing in a sandbox can be reached from outside. */
  readonly ports: readonly number[];
  readonly getPortEndpoint: (options: { port: number }) => Promise<never>;
  readonly getPortUrl: (options: { port: number }) => Promise<never>;
  /** Suspends it. */
  readonly stop: () => Promise<void>;
  /** Deletes it with its files. */
  readonly destroy: () => Promise<void>;
  readonly restricted: () => AiSandboxSession;
}

export interface AiCreateSessionOptions {
  /** The same id gives the same sandbox. */
  sessionId?: string;
  abortSignal?: AbortSignal;
  /** What `onFirstCreate` prepares. */
  identity?: string;
  onFirstCreate?: (session: AiSandboxSession, options: { abortSignal?: AbortSignal }) => Promise<void>;
}

/** `HarnessV1SandboxProvider` of the AI SDK. */
export interface AiSandboxProvider {
  readonly specificationVersion: 'harness-sandbox-v1';
  readonly providerId: string;
  readonly createSession: (options?: AiCreateSessionOptions) => Promise<AiNetworkSandboxSession>;
  readonly resumeSession: (options: {
    sessionId: string;
    abortSignal?: AbortSignal;
  }) => Promise<AiNetworkSandboxSession>;
}
