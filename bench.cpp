#include "carom/batch/solve_batch.hpp"
#include "carom/solvers/sap.hpp"
#include "io/text_problem.hpp"
#include <chrono>
#include <cstdio>
#include <memory>
#include <random>
using namespace carom;
#ifndef WIDTH
#define WIDTH batch_lane_count<double>
#endif
using clk=std::chrono::steady_clock; static double now(){return std::chrono::duration<double>(clk::now().time_since_epoch()).count();}
struct Data { std::vector<double> A,f,J,mu,R,b,g; 
 void add(const ContactProblem<double>& p,const Eigen::VectorXd& guess){
  for(Index k=0;k<p.body_count();++k){auto M=p.momentum_matrix(k);for(Index i=0;i<M.rows();++i)for(Index j=0;j<M.cols();++j)A.push_back(M(i,j));}
  for(Index i=0;i<p.velocity_count();++i){f.push_back(p.free_velocity()(i));g.push_back(guess(i));}
  for(Index k=0;k<p.block_count();++k){auto& w=p.friction_contact_law(k);mu.push_back(w.friction);R.push_back(w.regularization.tangent);R.push_back(w.regularization.normal);for(int r=0;r<3;++r)b.push_back(w.bias_velocity(r));
   for(int s=0;s<int(p.side_count(k));++s){auto j=p.jacobian(k,s);for(int r=0;r<3;++r)for(Index c=0;c<j.cols();++c)J.push_back(j(r,c));}}}
};
int main(int argc,char**argv){
  const auto given=files::read_text_problem(argv[1]); double S=argc>2?atof(argv[2]):0; int count=1024; int only=argc>3?atoi(argv[3]):0;
  std::vector<std::unique_ptr<ContactProblem<double>>> ps; std::mt19937 g(1); std::normal_distribution<double> nd; Data d;
  for(int w=0;w<count;++w){auto p=std::make_unique<ContactProblem<double>>(given.problem.time_step());
    for(Index b=0;b<given.problem.body_count();++b){auto [st,n]=given.problem.body(b);Eigen::VectorXd v=given.problem.free_velocity().segment(st,n);for(int i=0;i<n;++i)v(i)*=1+S*nd(g);p->add_body(given.problem.momentum_matrix(b),v);}
    for(Index k=0;k<given.problem.block_count();++k){auto law=given.problem.friction_contact_law(k);
      if(given.problem.side_count(k)==1)p->add_contact(given.problem.side_body(k,0),given.problem.jacobian(k,0),law);
      else p->add_contact(given.problem.side_body(k,0),given.problem.jacobian(k,0),given.problem.side_body(k,1),given.problem.jacobian(k,1),law);}
    d.add(*p,given.guess); ps.push_back(std::move(p));}
  if(const char* f=getenv("DUMP")){FILE* o=fopen(f,"wb");for(auto* x:{&d.A,&d.f,&d.J,&d.mu,&d.R,&d.b,&d.g})fwrite(x->data(),8,x->size(),o);fclose(o);}
  if(const char* f=getenv("LOAD")){FILE* o=fopen(f,"rb");for(auto* x:{&d.A,&d.f,&d.J,&d.mu,&d.R,&d.b,&d.g})if(fread(x->data(),8,x->size(),o)==0)return 1;fclose(o);}
  SapSolver<double> sap({.tolerance=1e-8}); sap.prepare(*ps[0]); Eigen::VectorXd v=given.guess; std::vector<Eigen::VectorXd> ref(count); 
  BatchPattern pat(*ps[0]); int nv=pat.velocity_count(),nc=pat.contact_count();
  BatchView<double> view{.count=count,.patterns=&pat}; view.mass={d.A.data(),pat.mass_count()};view.free_velocity={d.f.data(),nv};view.jacobian={d.J.data(),pat.jacobian_count()};view.friction={d.mu.data(),nc};view.regularization={d.R.data(),2*nc};view.bias={d.b.data(),3*nc};view.guess={d.g.data(),nv};
  std::vector<double> V(count*nv),G(count*3*nc); std::vector<BatchWorldReport<double>> rep(count); BatchAnswers<double> ans{{V.data(),nv},{G.data(),3*nc},rep.data()};
  BatchWorkspace<double,WIDTH> ws; ws.prepare(view,1); SapOptions<double> opt{.tolerance=1e-8};
  double t1=1e9,t2=1e9; long its=0; BatchReport br;
  for(int rr=0;rr<(only?40:10);++rr){
   if(only!=2){its=0;double t=now();for(int w=0;w<count;++w){v=given.guess;auto r=sap.solve(*ps[w],v);its+=r.iterations; ref[w]=v;}t1=std::min(t1,(now()-t)/count);}
   if(only!=1){double t=now(); br=solve_batch(view,ans,opt,ws); t2=std::min(t2,(now()-t)/count);} }
  double err=0,wr=0;long it2=0; for(int w=0;w<count;++w){it2+=rep[w].iterations;wr=std::max(wr,rep[w].residual); if(only!=2)for(int i=0;i<nv;++i)err=std::max(err,std::abs(V[w*nv+i]-ref[w](i)));}
  unsigned long long h=1469598103934665603ull; for(double x:V){unsigned long long u;std::memcpy(&u,&x,8);h=(h^u)*1099511628211ull;}
  std::printf("lanes %d islands %zu: sap %.2f us (%.2f it)  lanes %.2f us (%.2f it) ratio %.3f err %.2g residual %.2g converged %ld faults %ld bits %llx\n",int(WIDTH),pat.islands().size(),t1*1e6,double(its)/count,t2*1e6,double(it2)/count,t2/t1,err,wr,br.converged,br.faults,h);
}
