// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the syntax of what is changed.
/**
 * Patches of just-bash's awk, gzip, yq and tar towards the GNU tools, for bash-patches.ts;
 * `$awk` is awk-text.ts.
 */
import { AWK_FILE, type BashPatch, INTERPRETER_FILE, TAR_FILE } from './bash-patch.ts';

const GZIP = 'chunks/chunk-5ELNHAAJ.js';
const QUERY_FORMATS = 'chunks/chunk-6KK46B7Q.js';

export const COMMAND_PATCHES: readonly BashPatch[] = [
  // tar asked for a package that is not there; Node.js has Zstandard itself.
  {
    file: TAR_FILE,
    from: 'import("@mongodb-js/zstd")',
    to: 'import("node:zlib").then($zlib=>({compress:async $data=>$zlib.zstdCompressSync($data),decompress:async $data=>$zlib.zstdDecompressSync($data,{maxOutputLength:268435456})}))',
  },
  // A block holds 100 kB a level once runs of four have become five bytes: nobody could read larger archives.
  { file: TAR_FILE, from: 'let i=t*1e5,s=new ge(n)', to: 'let i=t*8e4-19,s=new ge(n)' },
  // Only the first of several streams was read.
  { file: TAR_FILE, from: 'Lt.decode(Buffer.from(e),c)', to: 'Lt.decode(Buffer.from(e),c,!0)' },
  // What compresses bytes for tar does so for bzip2.
  { file: TAR_FILE, from: 'export{', to: 'export{Ge as compressBzip2,Lt as seekBzip,' },
  {
    file: INTERPRETER_FILE,
    from: 'export{',
    to: 'export const loadBzip2=()=>import("./chunks/chunk-X3TZEFQG.js");export{',
  },
  // awk: what -v sets, records by RS, numbers as printf writes them, errors.
  {
    file: AWK_FILE,
    from: 'A.vars=Object.assign(Object.create(null),a),',
    to: 'A.vars=Object.assign(Object.create(null),a),Object.keys(a).forEach($name=>j(A,$name,a[$name])),',
  },
  {
    file: AWK_FILE,
    from: 'let G=d.split(`\n`);if(G.length>0&&G[G.length-1]===""&&G.pop(),G.length>y)',
    to: 'let G=$awk.recordsOf(d,A.vars.RS);if(G.length>y)',
  },
  {
    file: AWK_FILE,
    from: 'Number.isInteger(o)&&Math.abs(o)<Number.MAX_SAFE_INTEGER?r.push(String(o))',
    to: 'Number.isInteger(o)?r.push($awk.textOfNumber(o))',
  },
  {
    file: AWK_FILE,
    from: 'function v(e){return typeof e=="string"?e:(Number.isInteger(e),String(e))}function me(',
    to: 'function v(e){return typeof e=="string"?e:$awk.textOfNumber(e)}function me(',
  },
  {
    file: AWK_FILE,
    from: 'let g=p.toExponential(N);if(W==="E"',
    to: 'let g=$awk.wideExponent(p.toExponential(N));if(W==="E"',
  },
  { file: AWK_FILE, from: 'd=p.toExponential(N-1),', to: 'd=$awk.wideExponent(p.toExponential(N-1)),' },
  {
    file: AWK_FILE,
    from: 'stderr:`awk: ${g}: No such file or directory\n`,exitCode:1}',
    to: "stderr:`awk: fatal: cannot open file \\`${g}' for reading: No such file or directory\n`,exitCode:2}",
  },
  // A function that awk does not know was an empty text.
  {
    file: AWK_FILE,
    from: 'return s?bt(e,s,n):""}',
    to: "if(!s)throw new Error(`function \\`${t}' not defined`);return bt(e,s,n)}",
  },
  {
    file: AWK_FILE,
    from: 'n={redirect:">",file:e.parsePrimary()}',
    to: 'n={redirect:">",file:e.parseConcatenation()}',
  },
  {
    file: AWK_FILE,
    from: 'n={redirect:">>",file:e.parsePrimary()}',
    to: 'n={redirect:">>",file:e.parseConcatenation()}',
  },
  {
    file: AWK_FILE,
    from: 's={redirect:">",file:e.parsePrimary()}',
    to: 's={redirect:">",file:e.parseConcatenation()}',
  },
  {
    file: AWK_FILE,
    from: 's={redirect:">>",file:e.parsePrimary()}',
    to: 's={redirect:">>",file:e.parseConcatenation()}',
  },
  {
    file: AWK_FILE,
    from: '["systime",de("systime")]',
    to: '["systime",()=>$awk.systime()]',
  },
  {
    file: AWK_FILE,
    from: '["strftime",de("strftime")]',
    to: '["strftime",async($args,$state,$run)=>{let $values=[];for(let $each of $args)$values.push(await $run.evalExpr($each));return $awk.strftime($values)}]',
  },
  // `length` without parentheses was a variable: `awk 'length > 8'` printed nothing.
  {
    file: AWK_FILE,
    from: 'return{type:"variable",name:t}}throw new Error(`Unexpected token: ',
    to: 'return t==="length"?{type:"call",name:t,args:[]}:{type:"variable",name:t}}throw new Error(`Unexpected token: ',
  },
  // A loop of awk never waited, so that no timer could end it. And whether it ended before its input, for pipes.ts.
  { file: AWK_FILE, from: 'A.FS=s,', to: 'A.turn=$awk.turns(t.signal),A.FS=s,' },
  {
    file: AWK_FILE,
    from: 'if(n++,n>e.maxIterations)throw new w(`awk: while',
    to: 'if(n%256===255)await e.turn();if(n++,n>e.maxIterations)throw new w(`awk: while',
  },
  {
    file: AWK_FILE,
    from: 'if(n++,n>e.maxIterations)throw new w(`awk: do-while',
    to: 'if(n%256===255)await e.turn();if(n++,n>e.maxIterations)throw new w(`awk: do-while',
  },
  {
    file: AWK_FILE,
    from: 'if(a++,a>e.maxIterations)throw new w(`awk: for',
    to: 'if(a%256===255)await e.turn();if(a++,a>e.maxIterations)throw new w(`awk: for',
  },
  {
    file: AWK_FILE,
    from: 'let Q=A.lineIndex;if(',
    to: 'let Q=A.lineIndex;if(Q%256===255)await A.turn();if(',
  },
  {
    file: AWK_FILE,
    from: 'let y=m instanceof Error?m.message:String(m),p=m instanceof w?',
    to: 'if(m instanceof $awk.Stopped)return{stdout:T.getOutput(),stderr:"",exitCode:124};let y=m instanceof Error?m.message:String(m),p=m instanceof w?',
  },
  {
    file: AWK_FILE,
    from: 'return await n("END execution",()=>T.executeEnd()),{stdout',
    to: 'let $early=A.shouldExit;return await n("END execution",()=>T.executeEnd()),{...($early&&{endedEarly:!0}),stdout',
  },
  // awk -f, and `--` behind its options.
  {
    file: AWK_FILE,
    from: 'o=0;for(let m=0;m<e.length;m++){let y=e[m];if(y==="-F"&&',
    to: 'o=0,$program=null;for(let m=0;m<e.length;m++){let y=e[m];if(y==="--"){o=m+1;break}if(y==="-f"&&m+1<e.length){let $name=e[++m],$text=$name==="/dev/stdin"||$name==="-"?ee(t.stdin):await t.fs.readFile(t.fs.resolvePath(t.cwd,$name)).catch(()=>null);if($text===null)return{stdout:"",stderr:`awk: fatal: cannot open source file \\`${$name}\' for reading: No such file or directory\n`,exitCode:2};$program=($program===null?"":`${$program}\n`)+$text;o=m+1;continue}if(y==="-F"&&',
  },
  {
    file: AWK_FILE,
    from: 'if(o>=e.length)return{stdout:"",stderr:`awk: missing program\n`',
    to: 'if($program===null&&o>=e.length)return{stdout:"",stderr:`awk: missing program\n`',
  },
  {
    file: AWK_FILE,
    from: 'let l=e[o],c=e.slice(o+1),',
    to: 'let l=$program??e[o],c=e.slice($program===null?o+1:o),',
  },
  // A file without the suffix is a warning, whose exit code is 2, under gzip's name.
  {
    file: GZIP,
    from: '{stdout:"",stderr:"",exitCode:1}:{stdout:"",stderr:`${r}: ${t}: unknown suffix -- ignored\n`,exitCode:1}',
    to: '{stdout:"",stderr:"",exitCode:2}:{stdout:"",stderr:`gzip: ${t}: unknown suffix -- ignored\n`,exitCode:2}',
  },
  // yq: @csv puts every text in quotes.
  {
    file: QUERY_FORMATS,
    from: 'return o.includes(",")||o.includes(\'"\')||o.includes(`\n`)||o.includes("\\r")?`"${o.replace(/"/g,\'""\')}"`:o}',
    to: 'return`"${o.replace(/"/g,\'""\')}"`}',
  },
  // tar: links as links, what -v tells on stdout, and listings as GNU's.
  {
    file: TAR_FILE,
    from: 'let o=await e.fs.stat(a);if(B(e))return{entries:i,',
    to: 'let o=await e.fs.lstat(a);if(B(e))return{entries:i,',
  },
  {
    file: TAR_FILE,
    from: 'let l=a;return s.length>0&&(l+=',
    to: 'let $names=c===""?a:"",l=$names?"":a;return s.length>0&&(l+=',
  },
  {
    file: TAR_FILE,
    from: '{stdout:c,stderr:l,exitCode:s.length>0?2:0,stdoutKind:c.length>0?"bytes":"text"}',
    to: '{stdout:c||$names,stderr:l,exitCode:s.length>0?2:0,stdoutKind:c.length>0?"bytes":"text"}',
  },
  // Modes, times and links were left out, and members were looked for under their new names (tar-members.ts).
  {
    file: TAR_FILE,
    from: 'if(t.directory&&!t.toStdout){if(B(e))return N();try{await e.fs.mkdir(l,{recursive:!0})}catch{}}for(let m of i.entries){',
    to: 'if(t.directory&&!await e.fs.exists(l))return{stdout:"",stderr:`tar: ${t.directory}: Cannot open: No such file or directory\ntar: Error is not recoverable: exiting now\n`,exitCode:2};return $tar.extractMembers({fs:e.fs,umask:Number.parseInt(e.umask??"0022",8),isAborted:()=>B(e),isExcluded:Ee,matches:se,textOf:$bytes.textOfBytes},t,{members:i.entries,wanted:f,folder:l});for(let m of i.entries){',
  },
  {
    file: TAR_FILE,
    from: 'let r=Qe(e);if(!r.ok)return r.error;let{options:n,files:i}=r,',
    to: 'let $given=$tar.tarArguments(e);if($given.problem)return{stdout:"",stderr:$given.problem,exitCode:2};let r=Qe($given.args);if(!r.ok)return r.error;r.options.transform=$given.transform;let{options:n,files:i}=r,',
  },
  {
    file: TAR_FILE,
    from: 'if(i.length===0&&s.length>0)return{stdout:"",stderr:`${s.join(`\n`)}\n`,exitCode:2',
    to: '$tar.transformMembers(i,t);if(i.length===0&&s.length>0)return{stdout:"",stderr:`${s.join(`\n`)}\n`,exitCode:2',
  },
  {
    file: TAR_FILE,
    from: 'let c=o instanceof Error?o.message:"unknown error";s.push(`tar: ${r}: ${c}`)}return{entries:i,errors:s}',
    to: 'let c=$posix.reasonFor(o);if(c===void 0)throw o;s.push(`tar: ${r}: Cannot stat: ${c}`)}return{entries:i,errors:s}',
  },
  {
    file: TAR_FILE,
    from: 'm=`${f.uid}/${f.gid}`,p=f.size.toString().padStart(8," "),b=Yt(f.mtime),w=`${d} ${m.padEnd(10)} ${p} ${b} ${u}`',
    to: 'm="user/user",p=f.size.toString().padStart(10," "),b=f.mtime.toISOString().slice(0,16).replace("T"," "),w=`${d} ${m} ${p} ${b} ${u}`',
  },
  {
    file: TAR_FILE,
    from: 'else l+=`${u}\n`}return{stdout:l,',
    to: 'else l+=`${u.replace(/[\\n\\t\\r\\\\]/g,$one=>({"\\n":"\\\\n","\\t":"\\\\t","\\r":"\\\\r","\\\\":"\\\\\\\\"})[$one])}\n`}return{stdout:l,',
  },
  // `gzip -dc` and `zcat` take a name without a suffix: they make no name of it.
  { file: GZIP, from: 'if(!t.endsWith(s))return', to: 'if(!t.endsWith(s)&&!n)return' },
];
