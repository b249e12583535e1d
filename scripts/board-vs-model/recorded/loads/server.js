const http=require('http');
http.createServer((q,r)=>{ const a=[]; const n=60000+(q.url.length*7919%30000); for(let i=0;i<n;i++)a.push({k:(i*2654435761)%4294967296,v:'x'+i}); a.sort((x,y)=>x.k-y.k); r.end(JSON.stringify(a.slice(0,2000))); }).listen(8799,'127.0.0.1');
