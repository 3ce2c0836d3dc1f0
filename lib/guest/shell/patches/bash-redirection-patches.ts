// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the syntax of what is changed.
/**
 * Patches of just-bash's redirections: what fails is a status and a sentence, where the original throws; `/dev/stdin`
 * is the input that there is; and a device without an end is not taken for a file of 4 MiB. bash-patches.ts applies
 * them; `$posix` is posix-error.ts, `$inputs` endless-inputs.ts.
 */
import { type BashPatch, INTERPRETER_FILE, SHELLS_FILE } from './bash-patch.ts';

/** What names the standard input. */
const INPUT = '/^\\/(?:dev\\/stdin|(?:dev|proc\\/self)\\/fd\\/0)$/';

/** What a redirection or a write throws was the end of the call, or a message with the code of the error. */
const FAILURE_PATCHES: readonly BashPatch[] = [
  {
    file: INTERPRETER_FILE,
    from: '}catch(a){if(!s)throw a;return{error:L("",`bash: ${t}: cannot open redirect target\n`,1)}}return{entry:{kind:"output"',
    to: '}catch(a){return{error:L("",`bash: ${t}: ${$posix.reasonFor(a)??"cannot open redirect target"}\n`,1)}}return{entry:{kind:"output"',
  },
  {
    file: INTERPRETER_FILE,
    from: ':{entry:{kind:"input",content:s,path:r}}}catch{if(!n)return{error:L("",`bash: ${t}: No such file or directory\n`,1)};',
    to: ':{entry:{kind:"input",content:s,path:r}}}catch($error){if(!n)return{error:L("",`bash: ${t}: ${$posix.reasonFor($error)??"No such file or directory"}\n`,1)};',
  },
  {
    file: INTERPRETER_FILE,
    from: 'm(S,{kind:"input",content:c,path:A})}catch{return p(L("",`bash: ${v}: No such file or directory\n`,1),g)}',
    to: 'm(S,{kind:"input",content:c,path:A})}catch($error){return p(L("",`bash: ${v}: ${$posix.reasonFor($error)??"No such file or directory"}\n`,1),g)}',
  },
  {
    file: INTERPRETER_FILE,
    from: 'let k=async(A,C,N)=>{A.append?await e.fs.appendFile(A.path,C,N):await e.fs.writeFile(A.path,C,N)};',
    to: 'let $written=async $write=>{try{await $write()}catch($error){let $reason=$posix.reasonFor($error);if($reason===void 0)throw $error;c+=`${a?"":"bash: "}${o}: write error: ${$reason}\n`,u=1}},k=(A,C,N)=>$written(()=>A.append||$live.isLive(e.state.pipe)&&e.state.pipe.has(A.path)?e.fs.appendFile(A.path,C,N):e.fs.writeFile(A.path,C,N)),$toEntry=(...A)=>$written(()=>ho(e,...A));',
  },
  {
    file: INTERPRETER_FILE,
    from: 'await k(h,A,p(A)):await ho(e,h.source.entry,',
    to: 'await k(h,A,p(A)):await $toEntry(h.source.entry,',
  },
  {
    file: INTERPRETER_FILE,
    from: 'case"descriptor":await ho(e,C.source.entry,',
    to: 'case"descriptor":await $toEntry(C.source.entry,',
  },
  // An error of a file that nobody took ended the call.
  {
    file: INTERPRETER_FILE,
    from: 'continue}throw i instanceof Te&&i.prependOutput(r.stdout,r.stderr),i}return{...r.build(n),env:Wt(this.ctx.state.env)}',
    to: 'continue}let $said=$posix.sentenceFor(i);if($said!==void 0){r.append("stderr",`bash: ${$said}\n`),n=1,this.ctx.state.lastExitCode=n,this.ctx.state.env.set("?",String(n));continue}throw i instanceof Te&&i.prependOutput(r.stdout,r.stderr),i}return{...r.build(n),env:Wt(this.ctx.state.env)}',
  },
  {
    file: INTERPRETER_FILE,
    from: 'return n.appendUnaccounted("",`${$t(s)}\n`),n.build(1)}',
    to: 'return n.appendUnaccounted("",`${$posix.sentenceFor(s)??$t(s)}\n`),n.build(1)}',
  },
  {
    file: INTERPRETER_FILE,
    from: 'throw v;return D(`${t}: ${wt($t(v))}\n`)',
    to: 'throw v;return D(`${t}: ${$posix.sentenceFor(v)??wt($t(v))}\n`)',
  },
];

const INPUT_PATCHES: readonly BashPatch[] = [
  // `< /dev/stdin` read an empty file.
  {
    file: INTERPRETER_FILE,
    from: 'if(y.operator==="<"){let A=e.fs.resolvePath(e.state.cwd,v);',
    to: `if(y.operator==="<"){let A=e.fs.resolvePath(e.state.cwd,v);if((S===0||S===null)&&${INPUT}.test(A)){let $from=b(0,!0);if(!$from)return p(L("",\`bash: \${v}: No such file or directory\\n\`,1),g);if($from.kind==="entry"&&($from.entry.kind==="input"||$from.entry.kind==="readwrite")){c??=n;continue}c=n,u=-1,m(0,{kind:"dup-in",sourceFd:0});continue}`,
  },
  // What a command opens as `/dev/stdin` is what it would read.
  {
    file: INTERPRETER_FILE,
    from: 'let v,k=null;try{v=await this.runCommand(u,f,d,n,!1,!1,g,y);',
    to: 'let v,k=null,$input=this.ctx.state.input;try{this.ctx.state.input=$context.young(()=>n||this.ctx.state.groupStdin||"");v=await this.runCommand(u,f,d,n,!1,!1,g,y);',
  },
  {
    file: INTERPRETER_FILE,
    from: 'if(P instanceof He||P instanceof Qe)k=P,v=ne;else throw P}',
    to: 'if(P instanceof He||P instanceof Qe)k=P,v=ne;else throw P}finally{this.ctx.state.input=$input}',
  },
  {
    file: INTERPRETER_FILE,
    from: 'let d=r||i.state.groupStdin||"",p=!1,h=o();',
    to: 'let d=r||i.state.groupStdin||"",p=!1,h=o(),$device=i.state.endlessInput??(r?void 0:$inputs.deviceAround(i.state)),$isFile=i.state.readsFile;i.state.readsFile=!1;i.state.input=$context.young(()=>(p=!0,d));i.state.endlessInput=i.state.endless=void 0;',
  },
  ...(['bash', 'sh'] as const).map((name) => ({
    file: SHELLS_FILE,
    from: `return await c(n,o,i,e,{source:o})}catch($why){let $info=await e.fs.stat(e.fs.resolvePath(e.cwd,o)).catch(()=>null);return $info?.isDirectory?{stdout:"",stderr:\`\${o}: \${o}: Is a directory\n\`,exitCode:126}:{stdout:"",stderr:\`${name}:`,
    to: `return await c(n,o,i,e,{source:o,readsInput:${INPUT}.test(o)})}catch($why){let $info=await e.fs.stat(e.fs.resolvePath(e.cwd,o)).catch(()=>null);return $info?.isDirectory?{stdout:"",stderr:\`\${o}: \${o}: Is a directory\n\`,exitCode:126}:{stdout:"",stderr:\`${name}:`,
  })),
];

/** A device behind a group, a function, a shell or a descriptor was cut at 4 MiB, and everything succeeded. */
const AROUND_PATCHES: readonly BashPatch[] = [
  {
    file: INTERPRETER_FILE,
    from: 'try{if(i=await s.prepare(n),i.error)return zn(i);let o=e.state.groupStdin,',
    to: 'let $around=e.state.groupDevice;try{e.state.endless=void 0;if(i=await s.prepare(n),i.error)return zn(i);$inputs.takeDevice(e.state,t,i.stdin);e.state.endlessInput=void 0;let o=e.state.groupStdin,',
  },
  {
    file: INTERPRETER_FILE,
    from: '||await go(e,o,t,i),o}finally{s.finish()}}async function rn(',
    to: '||await go(e,o,t,i),o}finally{e.state.groupDevice=$around;s.finish()}}async function rn(',
  },
];

/** `tr a b < /dev/zero` was cut at 4 MiB and succeeded: without a reader that has enough it fails with a sentence. */
const DEVICE_PATCHES: readonly BashPatch[] = [
  {
    file: INTERPRETER_FILE,
    from: 'r(w);let b=await w.prepare(n);',
    to: 'r(w);this.ctx.state.endless=void 0;let b=await w.prepare(n);this.ctx.state.readsFile=t.redirections.length>0&&t.redirections.some(({operator:$operator,fd:$fd})=>$operator==="<"&&!$fd);$inputs.takeDevice(this.ctx.state,t.redirections,b.stdin);',
  },
  {
    file: INTERPRETER_FILE,
    from: 'm={pipe:i.state.pipe,',
    to: 'm={umask:i.state.umask,endlessInput:$device,readsFile:$isFile,pipe:i.state.pipe,',
  },
  {
    file: INTERPRETER_FILE,
    from: 'A=u.trusted?await Ce.runTrustedAsync(k):await k();return{...A,',
    to: 'A=u.trusted?await Ce.runTrustedAsync(k):await k(),$endless=i.state.endless??(p?$device:void 0);i.state.endless=void 0;if($endless!==void 0&&A.exitCode===0&&!A.endedEarly)A=i.state.pipe?.live===!1&&await i.state.pipe.isBroken(Buffer.from(xt(A),"latin1"),!0)?{...A,exitCode:141}:{...A,stderr:`${A.stderr}${t}: ${$endless}: it has no end, a part of it was read\n`,exitCode:1};return{...A,',
  },
];

export const REDIRECTION_PATCHES: readonly BashPatch[] = [
  ...FAILURE_PATCHES,
  ...INPUT_PATCHES,
  ...AROUND_PATCHES,
  ...DEVICE_PATCHES,
  // Commands that read the sandbox's files themselves found nothing at `<(command)`.
  {
    file: INTERPRETER_FILE,
    from: 'n.push({fd:s,path:i,direction:t.direction,body:t.body})',
    to: 'n.push({fd:s,path:i,direction:t.direction,body:t.body,content:r})',
  },
  // `exec < file` was for the command `exec` alone: what followed read nothing, or the same line for ever.
  {
    file: INTERPRETER_FILE,
    from: 'if(u==="exec"&&(f.length===0||f[0]==="--")){',
    to: 'if(u==="exec"&&(f.length===0||f[0]==="--")){if(y){w.finish();Object.assign(this.ctx.state,{groupStdin:n,groupStdinSourceFd:void 0});this.ctx.state.fileDescriptors?.delete(0)}',
  },
  // What a program has read of the input of a group or a loop was there again for the next one.
  {
    file: INTERPRETER_FILE,
    from: 'return{...A,internalStdinConsumed:A.internalStdinConsumed??(p?r.length:0)}',
    to: 'if(p&&!r)$inputs.take(i.state,[t,d],A,($fd,$length)=>tn(i,$fd,$length));return{...A,internalStdinConsumed:A.internalStdinConsumed??(p?r.length:0)}',
  },
];
