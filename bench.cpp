#include "carom/batch/detail/lane_newton.hpp"
#include "carom/solvers/sap.hpp"
#include "io/text_problem.hpp"
#include <chrono>
#include <cstdio>
#include <memory>
#include <random>
using namespace carom; using namespace carom::detail;
#ifndef WIDTH
#define WIDTH 8
#endif
using clk=std::chrono::steady_clock; static double now(){return std::chrono::duration<double>(clk::now().time_since_epoch()).count();}
template<class L,class M> void load(const LaneLayout& l,const BatchPattern& p,M cells,int lane,const ContactProblem<double>& pr,const Eigen::VectorXd& guess){
  for(int i=0;i<l.velocities;++i){cells.from(l.vector_at(LaneLayout::free)).of_lane(i,lane)=pr.free_velocity()(i);cells.from(l.vector_at(LaneLayout::velocity)).of_lane(i,lane)=guess(i);}
  for(size_t b=0;b<p.bodies().size();++b){auto A=pr.momentum_matrix(Index(b));int f=p.bodies()[b].first;for(int i=0;i<p.bodies()[b].size;++i)for(int j=0;j<=i;++j)cells.from(l.mass_at+l.mass_rows.place[f+i]).of_lane(f+j,lane)=A(i,j);}
  for(int k=0;k<l.contacts;++k){auto c=cells.from(l.contact_at(k));auto& w=pr.friction_contact_law(k);
    c.of_lane(LaneLayout::friction,lane)=w.friction;c.of_lane(LaneLayout::tangent,lane)=w.regularization.tangent;c.of_lane(LaneLayout::normal,lane)=w.regularization.normal;
    for(int r=0;r<3;++r)c.of_lane(LaneLayout::bias+r,lane)=w.bias_velocity(r);
    for(int s=0;s<int(pr.side_count(k));++s){auto& side=p.contacts()[size_t(k)].sides[s];auto J=pr.jacobian(k,s);
      for(auto& ls:l.sides[k].sides) if(ls.count&&ls.column==side.column+side.first) for(int q=0;q<side.count;++q)for(int r=0;r<3;++r)cells.from(l.jacobian_at+ls.jacobian).of_lane(3*q+r,lane)=J(r,side.first+q);}
  }
}
int main(int argc,char**argv){
  const auto given=files::read_text_problem(argv[1]); double S=argc>2?atof(argv[2]):0; int count=256; int only=argc>3?atoi(argv[3]):0;
  std::vector<std::unique_ptr<ContactProblem<double>>> ps; std::mt19937 g(1); std::normal_distribution<double> nd;
  for(int w=0;w<count;++w){auto p=std::make_unique<ContactProblem<double>>(given.problem.time_step());
    for(Index b=0;b<given.problem.body_count();++b){auto [st,n]=given.problem.body(b);Eigen::VectorXd v=given.problem.free_velocity().segment(st,n);for(int i=0;i<n;++i)v(i)*=1+S*nd(g);p->add_body(given.problem.momentum_matrix(b),v);}
    for(Index k=0;k<given.problem.block_count();++k){auto law=given.problem.friction_contact_law(k);
      if(given.problem.side_count(k)==1)p->add_contact(given.problem.side_body(k,0),given.problem.jacobian(k,0),law);
      else p->add_contact(given.problem.side_body(k,0),given.problem.jacobian(k,0),given.problem.side_body(k,1),given.problem.jacobian(k,1),law);}
    ps.push_back(std::move(p));}
  SapSolver<double> sap({.tolerance=1e-8}); sap.prepare(*ps[0]); Eigen::VectorXd v=given.guess; std::vector<Eigen::VectorXd> ref(count); 
  double t1=1e9; long its=0; for(int rep=0;rep<(only==2?1:only==1?400:20);++rep){its=0;double t=now();for(int w=0;w<count;++w){v=given.guess;auto r=sap.solve(*ps[w],v);its+=r.iterations; ref[w]=v;}t1=std::min(t1,(now()-t)/count);}
  BatchPattern pat(*ps[0]); LaneMap map(pat); auto lay=map.layout();
  using N=carom::Lanes<double,WIDTH>; constexpr int W=WIDTH; std::vector<double> mem(size_t(lay.cell_count)*W+8); double* m=mem.data(); m=(double*)((uintptr_t(m)+63)/64*64);
  LaneCells<N,W> cells(m);
  std::printf("cells %d  (%zu KB)\n",lay.cell_count,size_t(lay.cell_count)*W*8/1024);
  double t2=1e9,tl=1e9; double err=0; long it2=0,steps=0;
  for(int rep=0;rep<(only==2?400:only==1?1:20);++rep){ double t=now(); double load_t=0; it2=0;steps=0;
   for(int w=0;w<count;w+=W){ double a=now(); for(int q=0;q<W;++q)load<N>(lay,pat,cells,q,*ps[w+q],given.guess); load_t+=now()-a;
    LaneState<N,W> st(lay,cells); LaneNewton<N,W> nw(st,1e-8,100,1e-2); nw.begin(everywhere<N>(true)); while(any(!nw.ended())){nw.step();++steps;} nw.finish();
    if(rep==0){double it[W],ss[W];nw.iterations().store(it);nw.status().store(ss);for(int q=0;q<W;++q){double d=0;for(int i=0;i<lay.velocities;++i)d=std::max(d,std::abs(st.vector(LaneLayout::velocity).of_lane(i,q)-ref[w+q](i)));err=std::max(err,d);if(ss[q]!=0)std::printf("status %g\n",ss[q]);}}
    double it[W];nw.iterations().store(it);for(int q=0;q<W;++q)it2+=long(it[q]);
   } double all=now()-t; if(all/count<t2){t2=all/count;tl=load_t/count;} }
  std::printf("sap %.2f us (%.2f it)  lanes %.2f us (%.2f it, %.2f group steps) of which load %.2f  ratio %.3f err %.2g\n",t1*1e6,double(its)/count,t2*1e6,double(it2)/count,double(steps)/(count/W),tl*1e6,t2/t1,err);
}
