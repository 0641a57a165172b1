"""Rational fits P/Q for erfcx on an interval by reweighted linear least squares in mpmath."""
import mpmath as mp, sys
mp.mp.dps=60
def fit(f, lo, hi, m, n, pts=160, rounds=12):
    # nodes dense in log-like variable
    c=mp.mpf(3)
    ts=[mp.cos(mp.pi*(k+mp.mpf('0.5'))/pts) for k in range(pts)]
    T=lambda a:(a-c)/(a+c); tl,th=T(mp.mpf(lo)),T(mp.mpf(hi))
    xs=[]
    for t in ts:
        u=(tl+th)/2+(th-tl)/2*t; xs.append(c*(1+u)/(1-u))
    fx=[f(x) for x in xs]
    w=[mp.mpf(1)]*pts; qv=[(1+x)**n for x in xs]
    best=None
    for it in range(rounds):
        A=mp.matrix(pts,m+1+n); b=mp.matrix(pts,1)
        for i,x in enumerate(xs):
            s=mp.sqrt(w[i])/(qv[i]*fx[i])
            for j in range(m+1): A[i,j]=s*x**j
            for j in range(n): A[i,m+1+j]=-s*fx[i]*x**j   # q_n = 1 (monic)
            b[i]=s*fx[i]*x**n
        sol=mp.qr_solve(A,b)[0]
        P=[sol[j] for j in range(m+1)]; Q=[sol[m+1+j] for j in range(n)]+[mp.mpf(1)]
        qv=[mp.polyval(Q[::-1],x) for x in xs]
        e=[abs(mp.polyval(P[::-1],x)/q/v-1) for x,q,v in zip(xs,qv,fx)]
        top=max(e)
        if best is None or top<best[0]: best=(top,P,Q)
        w=[wi*(ei/top+mp.mpf('1e-6')) for wi,ei in zip(w,e)]
        sw=sum(w); w=[wi/sw*pts for wi in w]
    return best
erfcx=lambda a: mp.exp(a*a)*mp.erfc(a)
for lo,hi,m in ((0,28,10),(0,10.5,4),(0,10.5,5)):
    top,P,Q=fit(erfcx,lo,hi,m,m+1)
    print(lo,hi,m,m+1,float(mp.log(top,2)))
    print('P',', '.join(repr(float(p)) for p in P)); print('Q',', '.join(repr(float(q)) for q in Q),flush=True)
