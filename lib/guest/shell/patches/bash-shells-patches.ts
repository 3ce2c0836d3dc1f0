// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the syntax of what is changed.
/**
 * Patches of the shells that a script starts: just-bash's `bash` and `sh`, and a script that is run as a program.
 * bash-patches.ts applies them; `$shell` is shell-arguments.ts.
 */
import { type BashPatch, INTERPRETER_FILE, SHELLS_FILE } from './bash-patch.ts';

export const SHELLS_PATCHES: readonly BashPatch[] = [
  ...(['bash', 'sh'] as const).flatMap((name) => [
    // `bash -lc`, `sh -ec` and `bash -s` were taken for names of files, and `--help` of a script for the shell's own.
    {
      file: SHELLS_FILE,
      from: `{name:"${name}",async execute(t,e){if(h(t))`,
      to: `{name:"${name}",async execute(t,e){let $given=$shell.shellArguments("${name}",t,()=>l(e.stdin));if($given.ended)return $given.ended;t=$given.args;if($given.help)`,
    },
    // A script from standard input was what its commands read there, too.
    {
      file: SHELLS_FILE,
      from: `n=t[2]||"${name}",r=t.slice(3);return c(s,n,r,e)}`,
      to: `n=t[2]||"${name}",r=t.slice(3);return c(s,n,r,e,$given)}`,
    },
    // BASH_SOURCE was empty in a file, and a folder was “not there”.
    {
      file: SHELLS_FILE,
      from: `return c(n,o,i,e)}catch{return{stdout:"",stderr:\`${name}: \${o}: No such file or directory\n\`,exitCode:127}}`,
      to: `return await c(n,o,i,e,{source:o})}catch($why){let $info=await e.fs.stat(e.fs.resolvePath(e.cwd,o)).catch(()=>null);return $info?.isDirectory?{stdout:"",stderr:\`\${o}: \${o}: Is a directory\n\`,exitCode:126}:{stdout:"",stderr:\`${name}: \${o}: \${$why?.code==="EACCES"?"Permission denied":"No such file or directory"}\n\`,exitCode:$why?.code==="EACCES"?126:127}}`,
    },
  ]),
  { file: SHELLS_FILE, from: 'async function c(t,e,o,i){', to: 'async function c(t,e,o,i,$given){' },
  {
    file: SHELLS_FILE,
    from: 'let r=i.execWithInheritedStdin;',
    to: 'let r=$given?.readsInput?void 0:i.execWithInheritedStdin;',
  },
  // `env -u HOME sh -c …` still saw HOME: a shell began with the variables of the sandbox, not with its caller's. And
  // it writes to where it stands itself.
  {
    file: SHELLS_FILE,
    from: 'r(n,{env:s,cwd:i.cwd,signal:i.signal}',
    to: 'r(n,{exactEnv:!0,source:$given?.source,endlessInput:i.endlessInput,pipe:i.pipe,env:s,cwd:i.cwd,signal:i.signal}',
  },
  {
    file: SHELLS_FILE,
    from: 'i.exec(n,{env:s,cwd:i.cwd,stdin:i.stdin,',
    to: 'i.exec(n,{exactEnv:!0,source:$given?.source,pipe:i.pipe,env:s,cwd:i.cwd,stdin:$given?.readsInput?"":i.stdin,',
  },
  // A shell changed what others are begun with: `readonly` and `shopt` held in the next call.
  {
    file: INTERPRETER_FILE,
    from: 'hashTable:this.state.hashTable,',
    to: 'hashTable:new Map(this.state.hashTable),readonlyVars:new Set(this.state.readonlyVars),shoptOptions:{...this.state.shoptOptions},sourceStack:u.source===void 0?void 0:[u.source],currentSource:u.source,',
  },
  {
    file: INTERPRETER_FILE,
    from: 'e.state.currentSource=r;try{',
    to: 'e.state.currentSource=r,(e.state.sourceStack??=[]).unshift(r);try{',
  },
  {
    file: INTERPRETER_FILE,
    from: 'l=()=>{if(e.state.sourceDepth--,e.state.currentSource=a,',
    to: 'l=()=>{if(e.state.sourceStack?.shift(),e.state.sourceDepth--,e.state.currentSource=a,',
  },
  // A script that is run as a program: its `#!` line was not read, and it saw its caller's variables and functions.
  {
    file: INTERPRETER_FILE,
    from: 'i.state.hashTable.set(t,c.path)),await a(c.path,n,r);',
    to: 'i.state.hashTable.set(t,c.path)),await $shell.runFile(t.includes("/")?t:c.path,await i.fs.readFile(c.path).catch(()=>null),n,$name=>i.commands.has($name),($name,$args)=>pf(e,$name,$args,r,s));',
  },
  // `for x; do` took the words of "$*" for its arguments.
  {
    file: INTERPRETER_FILE,
    from: 'i=(e.state.env.get("@")||"").split(" ").filter(Boolean);',
    to: 'i=Array.from({length:Number(e.state.env.get("#")??0)},($none,$at)=>e.state.env.get(String($at+1))??"");',
  },
  // `exec program` went on behind it.
  {
    file: INTERPRETER_FILE,
    from: 'return{...await u(f,d,[],s,!1,!1,-1,l),internalProducerOmitsShellPrefix:!0}',
    to: 'let $result=await u(f,d,[],s,!1,!1,-1,l);return c.state.replaced=!0,c.state.traps?.delete("EXIT"),{...$result,internalProducerOmitsShellPrefix:!0}',
  },
  {
    file: INTERPRETER_FILE,
    from: 'n.appendResult(f,Ys(f)),r=f.exitCode,s=l,',
    to: 'n.appendResult(f,Ys(f)),r=f.exitCode;if(this.ctx.state.replaced){this.ctx.state.replaced=!1;if(c.commands.length===1)throw new G(r,"","")}s=l,',
  },
  // A program whose output would be too large ended the whole script with 126: `printf '%1000000000d'`.
  {
    file: INTERPRETER_FILE,
    from: 'if(v instanceof x||v instanceof ze||v instanceof _t)throw v;return D(`${t}: ${wt($t(v))}\n`)',
    to: 'if(v instanceof x&&v.limitType!=="recursion"&&v.limitType!=="output_size"){let $words=wt($t(v));return L(v.stdout,v.stderr.replace(/^bash: .*\\n$/,"")+`${$words.startsWith(t+":")?"":`${t}: `}${$words}\n`,1)}if(v instanceof x||v instanceof ze||v instanceof _t)throw v;return D(`${t}: ${wt($t(v))}\n`)',
  },
];
