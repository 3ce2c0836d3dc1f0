/** The official clients of the Model Context Protocol, as the packages of this folder have them. */
export { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
export { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
export { Client as EarlierClient } from '@modelcontextprotocol/sdk/client/index.js';
export { StdioClientTransport as EarlierStdioTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
export { StreamableHTTPClientTransport as EarlierHttpTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
