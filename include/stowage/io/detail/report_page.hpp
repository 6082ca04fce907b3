#pragma once
// The fixed parts of the HTML report: style, structure and script. The programs' data stand between head and
// tail, one JSON script element a program; the script reads an element when its program is first shown.

#include <string_view>

namespace stowage::io::detail {

inline constexpr std::string_view report_page_head = R"page(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>stowage: memory plans</title>
<style>
:root{--bg:#f6f7f9;--card:#fff;--ink:#1b1f24;--soft:#5c6570;--line:#dfe3e8;--accent:#1f5fbf;--good:#1a7f4b;--warn:#a15c00}
@media(prefers-color-scheme:dark){:root{--bg:#14171b;--card:#1d2127;--ink:#e8ebef;--soft:#9aa4af;--line:#343b44;--accent:#6ea8fe;--good:#4cc38a;--warn:#f0b35f}}
*{box-sizing:border-box}body{margin:0;background:var(--bg);color:var(--ink);font:14px/1.45 system-ui,"Segoe UI",sans-serif}
main{max-width:1500px;margin:0 auto;padding:18px 22px 60px}h1{font-size:22px;margin:0 12px 0 0}
header{display:flex;flex-wrap:wrap;align-items:center;gap:10px;margin-bottom:14px}
select,button,input{font:inherit;color:inherit;background:var(--card);border:1px solid var(--line);border-radius:6px;padding:4px 9px}
.badge{border-radius:99px;padding:2px 12px;font-weight:600;background:var(--card);border:1px solid currentColor}
.badge.optimal{color:var(--good)}.badge.feasible{color:var(--warn)}
.figures{display:grid;grid-template-columns:repeat(auto-fill,minmax(170px,1fr));gap:10px;margin-bottom:14px}
.figure{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:8px 12px}
.figure b{display:block;font-size:17px;font-variant-numeric:tabular-nums}.figure span{color:var(--soft);font-size:12px}
section{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:12px 14px;margin-bottom:14px}
h2{font-size:15px;margin:0 0 6px}.hint{color:var(--soft);font-size:12px;margin-left:8px;font-weight:400}
.legend{display:flex;flex-wrap:wrap;gap:4px 16px;font-size:12px;color:var(--soft);margin:4px 0}
.legend i{display:inline-block;width:14px;height:10px;margin-right:5px;border-radius:2px}
canvas{width:100%;display:block;cursor:crosshair;touch-action:none}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}th{color:var(--soft);font-weight:600}
td,th{text-align:left;padding:3px 10px 3px 0;border-bottom:1px solid var(--line)}td.n,th.n{text-align:right}
.scroll{max-height:420px;overflow:auto}
#tip{position:fixed;pointer-events:none;display:none;max-width:460px;background:var(--card);border:1px solid var(--line);border-radius:6px;box-shadow:0 3px 14px #0003;padding:7px 10px;font-size:12.5px;white-space:pre-line;z-index:9}
#tip b{display:block}
</style></head><body>
<main><header><h1>stowage</h1><select id="choose" aria-label="program"></select><span id="badge" class="badge"></span></header>
<div id="figures" class="figures"></div>
<section><h2>Live bytes over time<span class="hint">operators in running order; workspace included</span></h2><div id="curveLegend" class="legend"></div><canvas id="curves" height="260"></canvas><canvas id="bands" height="18"></canvas></section>
<section><h2>Every buffer: time × address<span class="hint">wheel: zoom time (with shift: address) · drag: move · double click: everything</span></h2>
<div class="legend"><label>colour by <select id="colour"><option value="stage">stage</option><option value="kind">kind</option></select></label><label>find <input id="find" size="14" placeholder="name"></label><span id="mapLegend" class="legend" style="margin:0"></span></div>
<canvas id="map" height="520"></canvas></section>
<section id="run"><h2>The run: what each lane did when<span class="hint">wheel: zoom · drag: move · double click: everything</span></h2><div id="laneLegend" class="legend"></div><canvas id="lanes" height="60"></canvas><div class="scroll"><table id="laneTable"></table></div></section>
<section><h2 id="peakTitle">The peak</h2><div class="scroll"><table id="alive"></table></div></section>
</main><div id="tip"></div>
)page";

inline constexpr std::string_view report_page_tail = R"page(<script>
"use strict";
const $=id=>document.getElementById(id),sources=[...document.querySelectorAll("script.program")],loaded=[];
const stageNames=["unknown","forward","backward","update"];
const stageColours=["#8c9bb5","#4e79a7","#f28e2b","#59a14f"];
const kindColours={intermediate:"#4e79a7",output:"#59a14f",donated:"#9c755f",workspace:"#b07aa1",offload:"#e15759",reload:"#edc948",transfer:"#76b7b2"};
const byKind=["workspace","donated","offload","reload","transfer"];
const curveColours=["#9aa0a6","#e15759","#76b7b2","#edc948","#b07aa1"],levelColours=["#1a7f4b","#c2185b","#7b61ff"];
const left=86,right=14;let now,view,laneView,hover=null,drag=null;
function human(n){const u=["B","KiB","MiB","GiB","TiB","PiB","EiB"];let k=0;while(n>=1024&&k<6){n/=1024;k++}return(k?n.toFixed(2):n)+" "+u[k]}
function css(name){return getComputedStyle(document.documentElement).getPropertyValue(name).trim()}
function cell(row,text,cls){const c=document.createElement(row.parentNode.tagName==="THEAD"?"th":"td");c.textContent=text;if(cls)c.className=cls;row.appendChild(c)}
function program(i){if(!loaded[i])loaded[i]=JSON.parse(sources[i].textContent);return loaded[i]}
function show(i){now=program(i);const n=Math.max(1,now.operators.length);view={t0:0,t1:n,a0:0,a1:Math.max(1,now.arena)};
 $("badge").textContent=now.status==="optimal"?"proven optimal":now.status;$("badge").className="badge "+now.status;
 $("figures").replaceChildren(...now.figures.map(([label,text])=>{const d=document.createElement("div");d.className="figure";const b=document.createElement("b"),s=document.createElement("span");b.textContent=text;s.textContent=label;d.append(b,s);return d}));
 legend($("curveLegend"),[...now.curves.map((c,k)=>[c.label,curveColour(k)]),...now.levels.map((l,k)=>[l.label+" "+human(l.bytes),levelColours[k%3]])]);
 laneView={t0:0,t1:Math.max(1,now.makespan)};laneTable();bandRows();peakTable();draw()}
const bandColours=["#4e79a7","#f28e2b","#59a14f","#b07aa1","#9c755f","#e15759","#76b7b2","#8c9bb5"];
function bandRows(){const c=$("bands");c.style.display=now.bands.length?"block":"none";c.setAttribute("data-h",18*Math.max(1,...now.bands.map(b=>b.row+1)))}
function drawBands(){if(!now.bands.length)return;const{g,w,h}=canvas("bands");g.beginPath();g.rect(left,0,w-left-right,h);g.clip();g.textAlign="left";
 now.bands.forEach((b,k)=>{for(const[from,to]of b.spans){const x=xOf(from,w),wd=Math.max(1,xOf(to,w)-x-.5),y=18*b.row;g.fillStyle=bandColours[k%8];g.fillRect(x,y,wd,16);
  if(wd>34){g.fillStyle="#fff";g.fillText(b.name.slice(0,Math.floor(wd/6.5)),Math.max(x,left)+4,y+12)}}})}
{const c=$("bands");c.addEventListener("pointerleave",e=>tip(e));c.addEventListener("pointermove",e=>{const r=c.getBoundingClientRect(),t=view.t0+(view.t1-view.t0)*(e.clientX-r.left-left)/(r.width-left-right),row=Math.floor((e.clientY-r.top)/18),b=now.bands.find(b=>b.row===row&&b.spans.some(s=>s[0]<=t&&t<s[1]));tip(e,b&&b.name,b&&b.text)})}
function curveColour(k){return k===now.curves.length-1?css("--accent"):curveColours[k%5]}
function legend(node,entries){node.replaceChildren(...entries.map(([label,colour])=>{const s=document.createElement("span"),i=document.createElement("i");i.style.background=colour;s.append(i,label);return s}))}
function peakTable(){const t=now.peakStep,op=now.operators.length?now.names[now.operators[t]]:"none";
 $("peakTitle").textContent="The peak: step "+t+", operator “"+op+"”, "+human(Math.max(0,...[now.curves.at(-1).live[t]||0]))+" alive";
 const table=$("alive");table.replaceChildren();const head=table.createTHead().insertRow(),body=table.createTBody();
 for(const[h,c]of[["buffer"],["bytes","n"],["share","n"],["kind"],["stage"],["steps","n"],["offset","n"],["made by"]])cell(head,h,c);
 const whole=now.curves.at(-1).live[t]||1;
 for(const k of now.alive.slice(0,500)){const b=now.boxes[k],row=body.insertRow();cell(row,now.names[b[0]]);cell(row,human(b[4]),"n");cell(row,(100*b[4]/whole).toFixed(1)+" %","n");cell(row,now.names[b[1]]);cell(row,stageNames[b[2]]);cell(row,b[5]+"–"+b[6],"n");cell(row,b[3].toLocaleString("en"),"n");cell(row,b[7]<0?"there from the start":now.names[now.operators[b[7]]])}
 if(now.alive.length>500){const row=body.insertRow();cell(row,"… and "+(now.alive.length-500)+" smaller ones")}}
function canvas(id){const c=$(id),r=window.devicePixelRatio||1,w=c.clientWidth,h=+c.getAttribute("data-h")||(c.setAttribute("data-h",c.height),c.height);c.style.height=h+"px";c.width=w*r;c.height=h*r;const g=c.getContext("2d");g.setTransform(r,0,0,r,0,0);g.clearRect(0,0,w,h);g.font="11px system-ui,sans-serif";return{g,w,h}}
function xOf(t,w){return left+(w-left-right)*(t-view.t0)/(view.t1-view.t0)}
function grid(g,w,h,lo,hi){g.strokeStyle=css("--line");g.fillStyle=css("--soft");g.textAlign="right";for(let k=0;k<=4;k++){const y=8+(h-28)*(1-k/4);g.beginPath();g.moveTo(left,y);g.lineTo(w-right,y);g.stroke();g.fillText(human(Math.round(lo+(hi-lo)*k/4)),left-6,y+4)}
 g.textAlign="center";for(let k=0;k<=5;k++){const t=Math.round(view.t0+(view.t1-view.t0)*k/5);g.fillText(t,Math.min(w-right-8,Math.max(left+6,xOf(t,w))),h-5)}}
function draw(){drawCurves();drawBands();drawMap();drawLanes()}
function millis(n){return(n/1e6).toFixed(3)+" ms"}
const laneColours={op:"#4e79a7",offload:"#e15759",reload:"#edc948",transfer:"#76b7b2"},laneLeft=110;
function laneX(t,w){return laneLeft+(w-laneLeft-right)*(t-laneView.t0)/(laneView.t1-laneView.t0)}
function laneTable(){$("run").hidden=!now.lanes.length;const table=$("laneTable");table.replaceChildren();if(!now.lanes.length)return;
 const head=table.createTHead().insertRow(),body=table.createTBody(),causes=now.lanes[0].idle.map(c=>c[0]);
 for(const[h,c]of[["lane"],["busy","n"],["share","n"],["copied","n"],["rate","n"],...causes.map(c=>["idle: "+c,"n"])])cell(head,h,c);
 for(const l of now.lanes){const row=body.insertRow();cell(row,l.name);cell(row,millis(l.busy),"n");cell(row,(100*l.busy/Math.max(1,now.makespan)).toFixed(1)+" %","n");cell(row,l.bytes?human(l.bytes):"","n");cell(row,l.bytes&&l.busy?(l.bytes/l.busy).toFixed(2)+" GB/s":"","n");for(const[,t]of l.idle)cell(row,t?millis(t):"","n")}
 $("lanes").setAttribute("data-h",26*now.lanes.length+24);legend($("laneLegend"),Object.entries(laneColours))}
function drawLanes(){if(!now.lanes.length)return;const{g,w,h}=canvas("lanes");g.fillStyle=css("--soft");g.textAlign="center";
 for(let k=0;k<=5;k++){const t=laneView.t0+(laneView.t1-laneView.t0)*k/5;g.fillText(millis(t),Math.min(w-40,Math.max(laneLeft+24,laneX(t,w))),h-5)}
 now.lanes.forEach((l,k)=>{const y=26*k+4;g.globalAlpha=1;g.fillStyle=css("--ink");g.textAlign="right";g.fillText(l.name,laneLeft-8,y+14);g.strokeStyle=css("--line");g.strokeRect(laneLeft,y,w-laneLeft-right,20);
  g.save();g.beginPath();g.rect(laneLeft,y,w-laneLeft-right,20);g.clip();
  for(const b of l.bars){if(b[3]<laneView.t0||b[2]>laneView.t1)continue;const x=laneX(b[2],w),wd=Math.max(.7,laneX(b[3],w)-x);g.globalAlpha=.9;g.fillStyle=laneColours[now.names[b[1]]]||"#8c9bb5";g.fillRect(x,y,wd,20);
   if(wd>60){g.globalAlpha=1;g.fillStyle="#fff";g.textAlign="left";g.fillText(now.names[b[0]].slice(0,Math.floor(wd/6.5)),Math.max(x,laneLeft)+4,y+14)}}
  g.restore()})}
function laneAt(e){const r=$("lanes").getBoundingClientRect();return{t:laneView.t0+(laneView.t1-laneView.t0)*(e.clientX-r.left-laneLeft)/(r.width-laneLeft-right),k:Math.floor((e.clientY-r.top-4)/26),w:r.width}}
function laneClamp(){const n=Math.max(1,now.makespan),s=Math.min(laneView.t1-laneView.t0,n);laneView.t0=Math.max(0,Math.min(laneView.t0,n-s));laneView.t1=laneView.t0+s}
function drawCurves(){const{g,w,h}=canvas("curves");let top=1;for(const c of now.curves)for(const v of c.live)if(v>top)top=v;for(const l of now.levels)if(l.bytes>top)top=l.bytes;top*=1.03;
 grid(g,w,h,0,top);const yOf=v=>8+(h-28)*(1-v/top);g.save();g.beginPath();g.rect(left,0,w-left-right,h-18);g.clip();
 now.curves.forEach((c,k)=>{const own=k===now.curves.length-1,columns=Math.max(1,Math.floor(w-left-right)),from=Math.max(0,Math.floor(view.t0)),to=Math.min(c.live.length,Math.ceil(view.t1)),stride=Math.max(1,Math.ceil((to-from)/columns));
  g.beginPath();let first=true;for(let t=from;t<to;t+=stride){let v=0;for(let s=t;s<Math.min(to,t+stride);s++)if(c.live[s]>v)v=c.live[s];const y=yOf(v);if(first){g.moveTo(xOf(t,w),y);first=false}else g.lineTo(xOf(t,w),y);g.lineTo(xOf(Math.min(to,t+stride),w),y)}
  g.strokeStyle=curveColour(k);g.lineWidth=own?2:1.2;g.stroke();if(own){g.lineTo(xOf(to,w),yOf(0));g.lineTo(xOf(from,w),yOf(0));g.globalAlpha=.13;g.fillStyle=curveColour(k);g.fill();g.globalAlpha=1}});
 g.lineWidth=1.4;now.levels.forEach((l,k)=>{g.setLineDash([6,4]);g.strokeStyle=levelColours[k%3];g.beginPath();g.moveTo(left,yOf(l.bytes));g.lineTo(w-right,yOf(l.bytes));g.stroke()});
 g.setLineDash([2,3]);g.strokeStyle="#d93025";g.beginPath();g.moveTo(xOf(now.peakStep+.5,w),0);g.lineTo(xOf(now.peakStep+.5,w),h-20);g.stroke();g.setLineDash([]);
 if(hover!==null){g.strokeStyle=css("--soft");g.beginPath();g.moveTo(xOf(hover+.5,w),0);g.lineTo(xOf(hover+.5,w),h-20);g.stroke()}g.restore()}
function colourOf(b,how){const kind=now.names[b[1]];return how==="kind"?kindColours[kind]||"#8c9bb5":byKind.includes(kind)?kindColours[kind]:stageColours[b[2]]}
function drawMap(){const{g,w,h}=canvas("map"),how=$("colour").value,find=$("find").value.toLowerCase();grid(g,w,h,view.a0,view.a1);
 const yOf=a=>8+(h-28)*(1-(a-view.a0)/(view.a1-view.a0)),seen=new Map();g.save();g.beginPath();g.rect(left,8,w-left-right,h-28);g.clip();
 for(const b of now.boxes){if(b[6]+1<view.t0||b[5]>view.t1||b[3]+b[4]<view.a0||b[3]>view.a1)continue;const x=xOf(b[5],w),wd=Math.max(.7,xOf(b[6]+1,w)-x),y=yOf(b[3]+b[4]),ht=Math.max(.7,yOf(b[3])-y),c=colourOf(b,how);
  seen.set(how==="kind"||byKind.includes(now.names[b[1]])?now.names[b[1]]:stageNames[b[2]],c);
  g.globalAlpha=find&&!now.names[b[0]].toLowerCase().includes(find)?.12:.88;g.fillStyle=c;g.fillRect(x,y,wd,ht);
  if(wd>3&&ht>3){g.globalAlpha=.8;g.strokeStyle=css("--card");g.lineWidth=.7;g.strokeRect(x,y,wd,ht)}
  if(wd>70&&ht>13){g.globalAlpha=1;g.fillStyle="#fff";g.textAlign="left";g.fillText(now.names[b[0]].slice(0,Math.floor(wd/6.5)),Math.max(x,left)+4,y+Math.min(ht/2+4,ht-3))}}
 g.globalAlpha=1;g.setLineDash([2,3]);g.strokeStyle="#d93025";g.beginPath();g.moveTo(xOf(now.peakStep+.5,w),0);g.lineTo(xOf(now.peakStep+.5,w),h-20);g.stroke();g.setLineDash([]);g.restore();
 legend($("mapLegend"),[...seen])}
function place(e,id){const r=$(id).getBoundingClientRect(),w=r.width,h=+$(id).getAttribute("data-h");return{t:view.t0+(view.t1-view.t0)*(e.clientX-r.left-left)/(w-left-right),a:view.a0+(view.a1-view.a0)*(1-(e.clientY-r.top-8)/(h-28)),w,h}}
function tip(e,title,text){const d=$("tip");if(!title){d.style.display="none";return}d.replaceChildren();const b=document.createElement("b");b.textContent=title;d.append(b,text);d.style.display="block";d.style.left=Math.min(e.clientX+14,innerWidth-d.offsetWidth-8)+"px";d.style.top=Math.min(e.clientY+14,innerHeight-d.offsetHeight-8)+"px"}
function clampView(){const n=Math.max(1,now.operators.length),a=Math.max(1,now.arena);let s=Math.min(view.t1-view.t0,n);view.t0=Math.max(0,Math.min(view.t0,n-s));view.t1=view.t0+s;s=Math.min(view.a1-view.a0,a);view.a0=Math.max(0,Math.min(view.a0,a-s));view.a1=view.a0+s}
function zoom(e,id){e.preventDefault();const p=place(e,id),f=Math.exp(e.deltaY*.0015);if(e.shiftKey&&id==="map"){const s=Math.max(1,(view.a1-view.a0)*f);view.a0=p.a-(p.a-view.a0)*s/(view.a1-view.a0);view.a1=view.a0+s}else{const s=Math.max(4,(view.t1-view.t0)*f);view.t0=p.t-(p.t-view.t0)*s/(view.t1-view.t0);view.t1=view.t0+s}clampView();draw()}
function move(e,id){const p=place(e,id);if(drag){const k=drag;view.t0=k.v.t0+(k.p.x-e.clientX)*(k.v.t1-k.v.t0)/(p.w-left-right);view.t1=view.t0+k.v.t1-k.v.t0;if(id==="map"){view.a0=k.v.a0+(e.clientY-k.p.y)*(k.v.a1-k.v.a0)/(p.h-28);view.a1=view.a0+k.v.a1-k.v.a0}clampView();draw();return}
 const t=Math.floor(p.t);hover=t>=0&&t<now.operators.length?t:null;drawCurves();if(hover===null){tip(e);return}const at="step "+t+": "+now.names[now.operators[t]]+" ("+stageNames[now.stages[t]]+")";
 if(id==="curves"){tip(e,at,now.curves.map(c=>c.label+": "+human(c.live[t])).join("\n"));return}
 let hit=null;for(const b of now.boxes)if(b[5]<=t&&t<=b[6]&&b[3]<=p.a&&p.a<b[3]+b[4])hit=b;
 if(!hit){tip(e,at,"free at this address");return}
 tip(e,now.names[hit[0]],human(hit[4])+" ("+hit[4].toLocaleString("en")+" B) at "+hit[3].toLocaleString("en")+"\nalive from step "+hit[5]+" to "+hit[6]+"\n"+now.names[hit[1]]+", "+stageNames[hit[2]]+"\n"+(hit[7]<0?"there from the start":"made by "+now.names[now.operators[hit[7]]]+" at step "+hit[7])+"\n"+at)}
for(const id of["curves","map"]){const c=$(id);c.addEventListener("wheel",e=>zoom(e,id),{passive:false});c.addEventListener("pointermove",e=>move(e,id));
 c.addEventListener("pointerdown",e=>{drag={p:{x:e.clientX,y:e.clientY},v:{...view}};c.setPointerCapture(e.pointerId);tip(e)});c.addEventListener("pointerup",()=>{drag=null});
 c.addEventListener("pointerleave",e=>{hover=null;tip(e);drawCurves()});c.addEventListener("dblclick",()=>{view={t0:0,t1:Math.max(1,now.operators.length),a0:0,a1:Math.max(1,now.arena)};draw()})}
{const c=$("lanes");let held=null;c.addEventListener("wheel",e=>{e.preventDefault();const p=laneAt(e),f=Math.exp(e.deltaY*.0015),s=Math.max(100,(laneView.t1-laneView.t0)*f);laneView.t0=p.t-(p.t-laneView.t0)*s/(laneView.t1-laneView.t0);laneView.t1=laneView.t0+s;laneClamp();drawLanes()},{passive:false});
 c.addEventListener("pointerdown",e=>{held={x:e.clientX,v:{...laneView}};c.setPointerCapture(e.pointerId);tip(e)});c.addEventListener("pointerup",()=>{held=null});c.addEventListener("pointerleave",e=>tip(e));
 c.addEventListener("pointermove",e=>{const p=laneAt(e);if(held){const s=held.v.t1-held.v.t0;laneView.t0=held.v.t0+(held.x-e.clientX)*s/(p.w-laneLeft-right);laneView.t1=laneView.t0+s;laneClamp();drawLanes();return}
  const l=now.lanes[p.k],b=l&&l.bars.find(b=>b[2]<=p.t&&p.t<b[3]);if(!b){tip(e,l?l.name:null,"idle");return}
  tip(e,now.names[b[0]],l.name+"\n"+millis(b[2])+" to "+millis(b[3])+", "+millis(b[3]-b[2])+(b[4]?"\n"+human(b[4])+", "+(b[4]/Math.max(1,b[3]-b[2])).toFixed(2)+" GB/s":""))});
 c.addEventListener("dblclick",()=>{laneView={t0:0,t1:Math.max(1,now.makespan)};drawLanes()})}
sources.forEach((s,i)=>{const o=document.createElement("option");o.value=i;o.textContent=(s.textContent.match(/"title":"((?:[^"\\]|\\.)*)"/)||[0,"program "+i])[1];$("choose").append(o)});
$("choose").hidden=sources.length<2;$("choose").addEventListener("change",e=>show(+e.target.value));$("colour").addEventListener("change",drawMap);$("find").addEventListener("input",drawMap);addEventListener("resize",draw);
if(sources.length){if(sources.length<2)document.querySelector("h1").textContent="stowage · "+program(0).title;show(0)}
</script></body></html>
)page";

}  // namespace stowage::io::detail
